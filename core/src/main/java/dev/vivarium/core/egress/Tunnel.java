package dev.vivarium.core.egress;

import dev.vivarium.model.HostName;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Optional;

/// Tunnel that copies bytes between a program and a host until both have closed their output. Confined to its two
/// worker threads.
final class Tunnel {
    private static final int BUFFER = 64 * 1024;

    private final ProxyConnection proxyConnection;
    private final ProgramConnection client;
    private final HttpReader source;
    private final Socket socket;
    private final Destination to;

    Tunnel(ProxyConnection proxyConnection, HttpReader source, Socket socket, Destination to) {
        this.proxyConnection = proxyConnection;
        this.client = proxyConnection.client();
        this.source = source;
        this.socket = socket;
        this.to = to;
    }

    /// Sends the response to the program and copies bytes until both directions end.
    void run() throws IOException {
        proxyConnection.answered(EgressRecord.Verdict.ALLOWED, 200);
        client.out().write(EgressProxy.bytes("HTTP/1.1 200 Connection Established\r\n\r\n"));
        Thread up = Thread.ofVirtual().name("egress-up-" + to).start(this::up);
        try {
            down();
            client.finish();
        } catch (IOException | SandboxException e) {
            client.close();
            // The other thread may be blocked in a write to a host that does not read. Only closing the socket ends
            // that write.
            proxyConnection.closeHost();
        } finally {
            await(up);
        }
    }

    private void down() throws IOException {
        InputStream in = new TimeoutInputStream(socket.getInputStream(), client);
        var buffer = new byte[BUFFER];
        for (int count; (count = in.read(buffer, 0, buffer.length)) >= 0; ) {
            client.out().write(buffer, 0, count);
        }
    }

    private void up() {
        try {
            copyUp();
            proxyConnection.lingerUntil(client::awaitEnd);
        } catch (SandboxException e) {
            // The sandbox ended.
        } finally {
            proxyConnection.closeHost();
        }
    }

    /// A host that accepts no more bytes may still send some, so a write error does not end the tunnel.
    private void copyUp() {
        try {
            OutputStream out = socket.getOutputStream();
            out.write(firstBytes());
            for (Optional<byte[]> piece = next(); piece.isPresent(); piece = next()) {
                out.write(piece.get());
            }
            socket.shutdownOutput();
        } catch (InterruptedIOException e) {
            proxyConnection.cut(EgressRecord.Verdict.ALLOWED);
        } catch (IOException e) {
            // The remaining input of the program is discarded.
        }
    }

    private Optional<byte[]> next() throws IOException {
        while (true) {
            client.setReadTimeout(EgressProxy.IDLE);
            try {
                return source.piece();
            } catch (InterruptedIOException e) {
                if (client.isIdle(EgressProxy.IDLE)) {
                    throw e;
                }
            }
        }
    }

    /// Returns the first bytes of the program. If they begin a TLS handshake, holds them back until the server name
    /// is known and permitted.
    private byte[] firstBytes() throws IOException {
        var first = new ByteArrayOutputStream();
        ServerName name = new ServerName.Unfinished();
        while (name instanceof ServerName.Unfinished) {
            Optional<byte[]> piece = next();
            if (piece.isEmpty()) {
                return first.toByteArray();
            }
            first.write(piece.get());
            name = ServerName.in(first.toByteArray());
        }
        if (!isNameAllowed(name)) {
            proxyConnection.cut(EgressRecord.Verdict.NAME_REFUSED);
            throw new IOException("another host is named");
        }
        return first.toByteArray();
    }

    private boolean isNameAllowed(ServerName name) {
        return switch (name) {
            case ServerName.Absent _, ServerName.Unfinished _ -> true;
            case ServerName.Broken _ -> false;
            case ServerName.Found(String text) -> isNameAllowed(text);
        };
    }

    private boolean isNameAllowed(String text) {
        try {
            HostName named = HostName.of(text);
            return to.host().address().isPresent()
                    || named.equals(to.host())
                    || proxyConnection.isAllowed(named, to.port());
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    static void await(Thread worker) {
        try {
            worker.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
