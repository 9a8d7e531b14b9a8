package dev.vivarium.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// A wire that can be cut: it carries connections to a server that may move. Thread-safe.
final class Relay implements AutoCloseable {
    private final ServerSocket controlPort;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile int target;
    private volatile boolean whole = true;

    Relay(URI server) {
        try {
            controlPort = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        aim(server);
        Thread.ofVirtual().name("relay").start(this::accept);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + controlPort.getLocalPort());
    }

    void aim(URI server) {
        target = server.getPort();
    }

    void cut() {
        whole = false;
        open.forEach(Relay::close);
    }

    void mend() {
        whole = true;
    }

    private void accept() {
        while (!controlPort.isClosed()) {
            try {
                Socket from = controlPort.accept();
                open.add(from);
                if (!whole || !connect(from)) {
                    close(from);
                }
            } catch (IOException _) {
                // The door was closed.
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
            return false; // The server is away.
        }
    }

    private void pump(Socket from, Socket to) {
        Thread.ofVirtual().name("relay-pump").start(() -> {
            try (from;
                    to) {
                from.getInputStream().transferTo(to.getOutputStream());
            } catch (IOException _) {
                // Cut.
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
            controlPort.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
