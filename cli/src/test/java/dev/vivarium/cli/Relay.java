package dev.vivarium.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// TCP relay to a server whose address may change. A test can interrupt it. Thread-safe.
final class Relay implements AutoCloseable {
    private final ServerSocket listener;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile int target;
    private volatile boolean isConnected = true;

    Relay(URI server) {
        try {
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        pointTo(server);
        Thread.ofVirtual().name("relay").start(this::accept);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    void pointTo(URI server) {
        target = server.getPort();
    }

    void cut() {
        isConnected = false;
        open.forEach(Relay::close);
    }

    void reconnect() {
        isConnected = true;
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket from = listener.accept();
                open.add(from);
                if (!isConnected || !connect(from)) {
                    close(from);
                }
            } catch (IOException _) {
                // The listener was closed.
            }
        }
    }

    private boolean connect(Socket from) {
        try {
            Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
            open.add(to);
            pump(from, to);
            pump(to, from);
            return true;
        } catch (IOException _) {
            return false; // The server is not reachable.
        }
    }

    private void pump(Socket from, Socket to) {
        Thread.ofVirtual().name("relay-pump").start(() -> {
            try (from;
                    to) {
                from.getInputStream().transferTo(to.getOutputStream());
            } catch (IOException _) {
                // The connection was closed.
            } finally {
                open.remove(from);
            }
        });
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        cut();
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
