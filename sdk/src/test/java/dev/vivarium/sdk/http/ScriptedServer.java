package dev.vivarium.sdk.http;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// Server on a real port that sends exactly the bytes of a script. One script per connection. Thread-safe.
final class ScriptedServer implements AutoCloseable {
    /// Handles one connection from its first request on.
    interface Script {
        void play(Peer peer) throws Exception;
    }

    private final ServerSocket socket;
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();

    private ScriptedServer(ServerSocket socket) {
        this.socket = socket;
    }

    static ScriptedServer of(Script script) throws IOException {
        var server = new ScriptedServer(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        server.workers.execute(() -> server.accept(script));
        return server;
    }

    URI uri() {
        return URI.create("http://" + socket.getInetAddress().getHostAddress() + ":" + socket.getLocalPort());
    }

    private void accept(Script script) {
        while (!socket.isClosed()) {
            try {
                Socket connection = socket.accept();
                workers.execute(() -> play(script, connection));
            } catch (IOException _) {
                return; // Closed.
            }
        }
    }

    private static void play(Script script, Socket connection) {
        try (connection) {
            script.play(new Peer(connection));
        } catch (Exception _) {
            // A script that fails closes the connection, as servers do.
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
        workers.shutdownNow();
    }

    /// The client side of a connection.
    static final class Peer {
        private final InputStream in;
        private final OutputStream out;

        Peer(Socket connection) throws IOException {
            this.in = new BufferedInputStream(connection.getInputStream());
            this.out = connection.getOutputStream();
        }

        List<String> head() throws IOException {
            var lines = new ArrayList<String>();
            for (String line = line(); !line.isEmpty(); line = line()) {
                lines.add(line);
            }
            return lines;
        }

        /// Reads a body of the length that its head announces.
        String body(List<String> head) throws IOException {
            for (String line : head) {
                if (line.toLowerCase(java.util.Locale.ROOT).startsWith("content-length:")) {
                    int length = Integer.parseInt(
                            line.substring(line.indexOf(':') + 1).trim());
                    return new String(in.readNBytes(length), StandardCharsets.UTF_8);
                }
            }
            var text = new StringBuilder();
            for (int size = chunk(); size > 0; size = chunk()) {
                text.append(new String(in.readNBytes(size), StandardCharsets.ISO_8859_1));
                line();
            }
            return text.toString();
        }

        /// Waits until the client closes the connection.
        void awaitDisconnect() throws IOException {
            in.transferTo(OutputStream.nullOutputStream());
        }

        void send(String text) throws IOException {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
        }

        void answer(int status, String type, String body) throws IOException {
            send("HTTP/1.1 " + status + " Whatever\r\nContent-Type: " + type + "\r\nContent-Length: "
                    + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body);
        }

        private int chunk() throws IOException {
            return Integer.parseInt(line(), 16);
        }

        private String line() throws IOException {
            var line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new IOException("the client hung up");
                }
                line.append((char) c);
            }
            return line.toString().stripTrailing();
        }
    }
}
