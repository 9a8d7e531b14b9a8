package dev.vivarium.testing;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/// TCP connection on which a test sends any bytes. Confined to one thread.
public final class RawClient implements AutoCloseable {
    private final Socket socket;

    public RawClient(URI server) throws IOException {
        this.socket = new Socket(server.getHost(), server.getPort());
        socket.setTcpNoDelay(true);
    }

    public void send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /// Sends FIN. The client can still read.
    public void finish() throws IOException {
        socket.shutdownOutput();
    }

    /// Makes [#close] send RST.
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
    }

    /// Returns the bytes that the server sends until it closes or resets the connection.
    public String readAll() throws IOException {
        var text = new StringBuilder();
        try {
            for (int next = socket.getInputStream().read();
                    next >= 0;
                    next = socket.getInputStream().read()) {
                text.append((char) next);
            }
        } catch (java.net.SocketException e) {
            // The server closed the connection while bytes were in flight.
        }
        return text.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
