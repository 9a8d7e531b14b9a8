package dev.vivarium.core.egress;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/// OutsideHost host that listens on the loopback interface and handles each connection as the test defines.
final class OutsideHost implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private final Behaviour behaviour;

    /// Handler of a connection. [#head] records every request head that it reads.
    interface Behaviour {
        void serve(Socket socket, OutsideHost self) throws IOException;
    }

    private OutsideHost(Behaviour behaviour) throws IOException {
        this.behaviour = behaviour;
        Thread.ofVirtual().name("outside").start(this::run);
    }

    static OutsideHost doing(Behaviour behaviour) throws IOException {
        return new OutsideHost(behaviour);
    }

    /// Sends these bytes in response to each request, and closes the connection.
    static OutsideHost answering(String answer) throws IOException {
        return doing((socket, self) -> {
            self.head(socket);
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
        });
    }

    int port() {
        return listener.getLocalPort();
    }

    /// Returns the head of the next request.
    String request() throws InterruptedException {
        return requests.take();
    }

    int requests() {
        return requests.size();
    }

    /// Reads up to the empty line.
    String head(Socket socket) throws IOException {
        var head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int c = socket.getInputStream().read();
            if (c < 0) {
                break;
            }
            head.write(c);
        }
        String text = head.toString(StandardCharsets.ISO_8859_1);
        requests.add(text);
        return text;
    }

    private void run() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                Thread.ofVirtual().name("outside-" + socket.getPort()).start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            behaviour.serve(socket, this);
        } catch (IOException e) {
            // The peer closed the connection, as some tests intend.
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
