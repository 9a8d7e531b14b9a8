package dev.vivarium.server.http;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// An answer that is put on record once, and before its end is sent: whoever has an answer finds in the audit what they
/// did. Confined to the worker that serves the request.
final class AuditedResponse extends Response.Wrapper {
    private Optional<IntConsumer> record = Optional.empty();

    AuditedResponse(Request request, Response response) {
        super(request, response);
    }

    /// From now on it is known whose answer it is, and what to do with its status.
    void to(IntConsumer witness) {
        record = Optional.of(witness);
    }

    /// Puts it on record with this status, unless that was done.
    void give(int status) {
        Optional<IntConsumer> due = record;
        record = Optional.empty();
        due.ifPresent(witness -> witness.accept(status));
    }

    @Override
    public void write(boolean last, ByteBuffer content, Callback callback) {
        if (last) {
            give(getStatus());
        }
        super.write(last, content, callback);
    }
}
