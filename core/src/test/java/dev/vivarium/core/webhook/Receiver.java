package dev.vivarium.core.webhook;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

/// HTTP receiver on the loopback address. Thread-safe.
final class Receiver implements AutoCloseable {
    private static final String HANG = "hang";

    private final ServerSocket server;
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final AtomicReference<String> response = new AtomicReference<>("HTTP/1.1 204 No Content\r\n\r\n");

    record Received(String line, Map<String, String> headers, byte[] body) {
        String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    Receiver() {
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("receiver").start(this::accept);
    }

    String url(String path) {
        return "http://127.0.0.1:" + server.getLocalPort() + path;
    }

    List<Received> received() {
        return received;
    }

    void respond(String text) {
        response.set(text);
    }

    void hang() {
        response.set(HANG);
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                open.add(socket);
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try {
            received.add(read(socket.getInputStream()));
            if (!response.get().equals(HANG)) {
                socket.getOutputStream().write(response.get().getBytes(StandardCharsets.US_ASCII));
                socket.close();
            }
        } catch (IOException e) {
            // The sender gave up.
        }
    }

    private static Received read(InputStream in) throws IOException {
        String line = line(in);
        var headers = new HashMap<String, String>();
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
            int colon = header.indexOf(':');
            headers.put(
                    header.substring(0, colon).toLowerCase(Locale.ROOT),
                    header.substring(colon + 1).strip());
        }
        return new Received(line, headers, in.readNBytes(Integer.parseInt(headers.get("content-length"))));
    }

    private static String line(InputStream in) throws IOException {
        var bytes = new ByteArrayOutputStream();
        for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
            bytes.write(next);
        }
        return bytes.toString(StandardCharsets.US_ASCII).strip();
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
