package dev.vivarium.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/// WebSocket to the events of one sandbox that measures their latency. Confined to the worker that opens it.
final class Watcher implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
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

    /// Subscribes to the events that carry a time stamp.
    static Watcher open(VivServer server, String sandbox) {
        try {
            var socket = WebSocket.open(server.port(), "/ws/sandboxes/" + sandbox + "?event_types=bench.step");
            socket.send("{\"type\":\"auth\",\"token\":\"" + server.key() + "\"}");
            var watcher = new Watcher(socket);
            watcher.awaitConnected();
            return watcher;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private synchronized void awaitConnected() {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
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
            // This client or the server closed the socket. If events are missing, the count in [#await] shows it.
        }
    }

    /// Ignores events from before the subscription.
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

    /// Waits until `count` events have arrived. After the timeout, the sample count shows how many are missing.
    synchronized void await(int count) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
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

    /// Returns the latencies of the events. They are complete after the close.
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
