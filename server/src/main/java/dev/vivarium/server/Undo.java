package dev.vivarium.server;

import java.util.ArrayDeque;
import java.util.Deque;

/// Closes what was opened, last first, unless everything went well. Confined to the worker that starts the server.
final class Undo implements AutoCloseable {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T part) {
        opened.push(part);
        return part;
    }

    /// Everything is open and has an owner now.
    void keep() {
        opened.clear();
    }

    @Override
    public void close() {
        for (AutoCloseable part : opened) {
            try {
                part.close();
            } catch (Exception e) {
                // What made the start fail is the failure to tell.
            }
        }
    }
}
