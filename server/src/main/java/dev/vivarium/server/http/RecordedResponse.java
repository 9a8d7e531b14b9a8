package dev.vivarium.server.http;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Predicate;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Response whose body is recorded, for a request with an idempotency key. Confined to the worker that serves the
/// request.
///
/// It calls `onEnd` before it sends the last part of the body. The response is therefore stored before a client that
/// has the whole body can repeat its request. If the client disconnects, the handler continues to its end, because the
/// client may ask for the response again.
final class RecordedResponse extends Response.Wrapper {
    /// Maximum size of a body that is recorded.
    static final int MAX_BYTES = 1024 * 1024;

    /// Maximum size of a body for which no memory is reserved.
    private static final int MAX_UNRESERVED_BYTES = 64 * 1024;

    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private Predicate<Integer> reserve = _ -> false;
    private Runnable onEnd = () -> {};
    private boolean isTooLarge;
    private volatile boolean isClientGone;

    RecordedResponse(Request request, Response response) {
        super(request, response);
    }

    /// @param memory reserves memory, or returns false
    /// @param end    called once, before the end of the response is sent
    void record(Predicate<Integer> memory, Runnable end) {
        reserve = memory;
        onEnd = end;
    }

    /// Returns the body; empty if it was too large.
    Optional<byte[]> body() {
        return isTooLarge ? Optional.empty() : Optional.of(body.toByteArray());
    }

    boolean isClientGone() {
        return isClientGone;
    }

    @Override
    public void write(boolean last, ByteBuffer content, Callback callback) {
        if (content != null) {
            append(content.duplicate());
        }
        if (last) {
            onEnd.run();
        }
        if (isClientGone) {
            callback.succeeded();
        } else {
            super.write(last, content, Callback.from(callback::succeeded, _ -> {
                isClientGone = true;
                callback.succeeded();
            }));
        }
    }

    private void append(ByteBuffer content) {
        int size = body.size() + content.remaining();
        boolean isLarge = size > MAX_UNRESERVED_BYTES && body.size() <= MAX_UNRESERVED_BYTES;
        isTooLarge = isTooLarge || size > MAX_BYTES || isLarge && !reserve.test(MAX_BYTES);
        if (!isTooLarge) {
            byte[] bytes = new byte[content.remaining()];
            content.get(bytes);
            body.writeBytes(bytes);
        }
    }
}
