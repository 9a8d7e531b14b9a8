package dev.vivarium.server.http;

import dev.vivarium.core.LoopBudget;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Blocker;

/// Response body. Confined to the worker that serves the request.
///
/// A small body has a length and shares one packet with the headers. A large body is sent in pieces while it is
/// written.
final class Body extends OutputStream {
    private static final int CAPACITY = 16 * 1024;

    private final Response response;
    private byte[] buffer = new byte[1024];
    private int used;
    private final LoopBudget budget = new LoopBudget();
    private boolean closed;

    Body(Response response) {
        this.response = response;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (used + length > CAPACITY) {
            send(buffer, used, false);
            used = 0;
        }
        if (length > CAPACITY) {
            send(bytes, offset, length, false);
            return;
        }
        if (used + length > buffer.length) {
            buffer = java.util.Arrays.copyOf(buffer, Math.min(CAPACITY, Math.max(used + length, 2 * buffer.length)));
        }
        System.arraycopy(bytes, offset, buffer, used, length);
        used += length;
    }

    /// Completes the response.
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        if (!response.isCommitted()) {
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, used);
        }
        send(buffer, used, true);
    }

    private void send(byte[] bytes, int length, boolean last) throws IOException {
        send(bytes, 0, length, last);
    }

    private void send(byte[] bytes, int offset, int length, boolean last) throws IOException {
        if (length == 0 && !last) {
            return;
        }
        budget.blocks();
        try (var sent = Blocker.callback()) {
            response.write(last, ByteBuffer.wrap(bytes, offset, length), sent);
            sent.block();
        }
        if (!last) {
            budget.spend(length);
        }
    }
}
