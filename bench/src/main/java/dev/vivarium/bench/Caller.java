package dev.vivarium.bench;

import java.util.function.Consumer;

/// Crowd member that repeats one call over its own connection. Confined to one thread.
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
