package dev.vivarium.server.http;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Response with one audit entry. Confined to the worker that serves the request.
///
/// It records the entry before it sends the end of the response. A client with a complete response therefore finds its
/// entry.
final class AuditedResponse extends Response.Wrapper {
    private Optional<IntConsumer> record = Optional.empty();

    AuditedResponse(Request request, Response response) {
        super(request, response);
    }

    /// Sets the consumer of the status, after the caller is authenticated.
    void to(IntConsumer audit) {
        record = Optional.of(audit);
    }

    /// Records the status once. Later calls have no effect.
    void recordStatus(int status) {
        Optional<IntConsumer> due = record;
        record = Optional.empty();
        due.ifPresent(audit -> audit.accept(status));
    }

    @Override
    public void write(boolean last, ByteBuffer content, Callback callback) {
        if (last) {
            recordStatus(getStatus());
        }
        super.write(last, content, callback);
    }
}
