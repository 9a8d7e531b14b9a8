package dev.vivarium.sdk.local;

import java.util.ArrayDeque;
import java.util.Deque;

/// What has been opened so far, closed in reverse unless it is kept. Confined to one worker.
final class Undo implements AutoCloseable {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T part) {
        opened.push(part);
        return part;
    }

    void keep() {
        opened.clear();
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception _) {
                // The failure that brought us here is the one to tell.
            }
        }
    }
}
