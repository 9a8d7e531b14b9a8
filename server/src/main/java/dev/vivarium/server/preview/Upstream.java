package dev.vivarium.server.preview;

import dev.vivarium.core.preview.Connection;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import org.eclipse.jetty.http.HttpGenerator;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.util.BufferUtil;

/// One request to a program in a sandbox and its answer, over a connection of its own: Jetty's generator frames what
/// goes in, Jetty's parser reads what comes out, and no later request can be mistaken for part of this one. One worker
/// writes and one reads, not necessarily the same; [#close] may be called by anybody.
final class Upstream implements AutoCloseable {
    private static final int HEADER_BYTES = 64 * 1024;
    private static final int BUFFER_BYTES = 64 * 1024;

    private final Connection connection;
    private final int port;
    private final Duration patience;
    private final MetaData.Request request;
    private final ResponseParser reading;
    private final HttpGenerator generator = new HttpGenerator();
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private ByteBuffer received = ByteBuffer.allocate(0);
    private volatile long lastSent = System.nanoTime();

    Upstream(Connection connection, int port, Duration patience, MetaData.Request request) {
        this.connection = connection;
        this.port = port;
        this.patience = patience;
        this.request = request;
        this.reading = new ResponseParser(port, HttpMethod.HEAD.is(request.getMethod()));
    }

    /// Sends the first lines; `whole` when there is no body to follow.
    void sendHead(boolean whole) throws IOException {
        ByteBuffer header = BufferUtil.allocate(HEADER_BYTES);
        generate(header, BufferUtil.EMPTY_BUFFER, whole);
    }

    /// Sends a piece of the body. Reports whether the program still wants it.
    boolean send(ByteBuffer content, boolean last) throws IOException {
        return generate(BufferUtil.EMPTY_BUFFER, content, last);
    }

    private boolean generate(ByteBuffer header, ByteBuffer content, boolean last) throws IOException {
        ByteBuffer chunk = BufferUtil.allocate(HttpGenerator.CHUNK_SIZE);
        while (true) {
            HttpGenerator.Result result = generator.generateRequest(request, header, chunk, content, last);
            switch (result) {
                case FLUSH -> {
                    if (!write(header) || !write(chunk) || !write(content)) {
                        return false;
                    }
                }
                case CONTINUE -> {}
                case DONE, SHUTDOWN_OUT -> {
                    return true;
                }
                case HEADER_OVERFLOW ->
                    throw new SandboxException(new Failure.InvalidRequest("headers", "are too long"));
                case NEED_CHUNK, NEED_INFO, NEED_HEADER, NEED_CHUNK_TRAILER ->
                    throw new IllegalStateException("" + result);
            }
        }
    }

    private boolean write(ByteBuffer bytes) {
        boolean taken = !bytes.hasRemaining() || write(BufferUtil.toArray(bytes));
        BufferUtil.clear(bytes);
        return taken;
    }

    private boolean write(byte[] bytes) {
        boolean taken = connection.write(bytes, 0, bytes.length);
        lastSent = System.nanoTime();
        return taken;
    }

    /// Waits for the first lines of the answer.
    ResponseHead awaitAnswer() {
        while (true) {
            reading.advance(received);
            Optional<ResponseHead> head = reading.head();
            if (head.isEmpty()) {
                receive();
            } else if (head.get().isInterim()) {
                reading.skipInformational();
            } else {
                return head.get();
            }
        }
    }

    /// Waits for the next piece of the answer's body; nothing when it is over. Good until the next call.
    Optional<ByteBuffer> next() {
        while (true) {
            // With nothing to read too: the parser may still have to notice that it is at the end.
            reading.advance(received);
            Optional<ByteBuffer> content = reading.takeContent();
            if (content.isPresent() || reading.isWhole()) {
                return content;
            }
            if (!received.hasRemaining()) {
                receive();
            }
        }
    }

    /// What the program sent behind an answer that ends HTTP on this connection.
    ByteBuffer rest() {
        return received;
    }

    Connection connection() {
        return connection;
    }

    private void receive() {
        awaitReadable();
        int count = connection.read(buffer, 0, buffer.length);
        if (count < 0) {
            reading.end();
            received = BufferUtil.EMPTY_BUFFER;
        } else {
            received = ByteBuffer.wrap(buffer, 0, count);
        }
    }

    /// A program that still takes in the request may be silent for as long as it does.
    private void awaitReadable() {
        while (!connection.awaitReadable(patience)) {
            if (System.nanoTime() - lastSent >= patience.toNanos()) {
                throw new SandboxException(new Failure.AnswerTimedOut("port " + port, patience));
            }
        }
    }

    /// Ends the connection. Idempotent.
    @Override
    public void close() {
        connection.close();
    }
}
