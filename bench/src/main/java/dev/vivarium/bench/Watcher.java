package dev.vivarium.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/// A WebSocket to the events of one sandbox, and how old each was when it came. Confined to the worker that opens it.
final class Watcher implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String AT = "\"at\":";

    private final WebSocket socket;
    private final Samples samples = new Samples();
    private final Thread reader;
    private boolean connected;
    private long begun = Long.MAX_VALUE;

    private Watcher(WebSocket socket) {
        this.socket = socket;
        this.reader = Thread.ofVirtual().name("watcher").start(this::read);
    }

    /// Watches what is marked with its time from now on.
    static Watcher open(VivServer server, String sandbox) {
        try {
            var socket = WebSocket.open(
                    server.port(), "/ws/sandboxes/" + sandbox + "?event_types=bench.step&token=" + server.key());
            var watcher = new Watcher(socket);
            watcher.awaitConnected();
            return watcher;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private synchronized void awaitConnected() {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!connected && System.nanoTime() < deadline) {
            pause();
        }
        begun = System.nanoTime();
    }

    private void read() {
        try {
            while (true) {
                String message = socket.next();
                take(message, System.nanoTime());
            }
        } catch (IOException closed) {
            // By us, or by a server that ends; who waits for more will say so.
        }
    }

    /// What was before it came does not count.
    private synchronized void take(String message, long now) {
        connected |= message.contains("\"connected\"");
        int at = message.indexOf(AT);
        if (at >= 0) {
            int end = message.indexOf('}', at);
            long sent = Long.parseLong(message.substring(at + AT.length(), end));
            if (sent >= begun) {
                samples.add(now - sent);
            }
        }
        notifyAll();
    }

    /// Waits until it has seen so many; less is told by their count.
    synchronized void await(int count) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (samples.count() < count && System.nanoTime() < deadline) {
            pause();
        }
    }

    private synchronized void pause() {
        try {
            wait(100);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    void awaitAndClose(int count) {
        await(count);
        close();
    }

    /// How old the events were; complete when it is closed.
    synchronized Samples samples() {
        return samples;
    }

    @Override
    public void close() {
        socket.close();
        try {
            reader.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
