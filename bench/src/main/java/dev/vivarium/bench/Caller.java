package dev.vivarium.bench;

import java.util.function.Consumer;

/// A member of a crowd that repeats one call over a connection of its own.
record Caller(Http http, Consumer<Http> call) implements Crowd.Member {
    @Override
    public void act(int turn) {
        call.accept(http);
    }

    @Override
    public void close() {
        http.close();
    }
}
