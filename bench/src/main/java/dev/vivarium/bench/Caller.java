package dev.vivarium.bench;

import java.util.function.ObjIntConsumer;

/// Crowd member that repeats one call over its own connection. Confined to one thread.
record Caller(Http http, ObjIntConsumer<Http> call) implements Crowd.Member {
    @Override
    public void act(int turn) {
        call.accept(http, turn);
    }

    @Override
    public void close() {
        http.close();
    }
}
