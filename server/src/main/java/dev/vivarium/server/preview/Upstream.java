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

/// HTTP exchange with a program in a sandbox. One thread writes and one thread reads. Any thread may call [#close].
///
/// Each exchange has its own connection, framed by Jetty's generator and parser. This prevents request smuggling: no
/// later request can be part of this one.
final class Upstream implements AutoCloseable {
    private static final int HEADER_BYTES = 64 * 1024;
    private static final int BUFFER_BYTES = 64 * 1024;

    private final Connection connection;
    private final int port;
    private final Duration timeout;
    private final MetaData.Request request;
    private final ResponseParser reading;
    private final HttpGenerator generator = new HttpGenerator();
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private ByteBuffer received = ByteBuffer.allocate(0);
    private volatile long lastSent = System.nanoTime();

    Upstream(Connection connection, int port, Duration timeout, MetaData.Request request) {
        this.connection = connection;
        this.port = port;
        this.timeout = timeout;
        this.request = request;
        this.reading = new ResponseParser(port, HttpMethod.HEAD.is(request.getMethod()));
    }

    /// Sends the request head. `whole` means that no body follows.
    void sendHead(boolean whole) throws IOException {
        ByteBuffer header = BufferUtil.allocate(HEADER_BYTES);
        generate(header, BufferUtil.EMPTY_BUFFER, whole);
    }

    /// Sends a piece of the body. Reports whether the program still reads the body.
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
                case HEADER_OVERFLOW -> throw SandboxException.invalid("headers", "are too long");
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

    /// Waits for the response head.
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

    /// Waits for the next piece of the response body, or returns nothing at its end. The buffer is valid until the
    /// next call.
    Optional<ByteBuffer> next() {
        while (true) {
            // Also without input: the parser may still have to detect the end of the body.
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

    /// Returns the bytes that the program sent after an upgrade response.
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

    /// Waits for input. Fails if the program neither sends nor reads a byte for `timeout`.
    private void awaitReadable() {
        while (!connection.awaitReadable(timeout)) {
            if (System.nanoTime() - lastSent >= timeout.toNanos()) {
                throw new SandboxException(new Failure.AnswerTimedOut("port " + port, timeout));
            }
        }
    }

    /// Closes the connection. Idempotent.
    @Override
    public void close() {
        connection.close();
    }
}
