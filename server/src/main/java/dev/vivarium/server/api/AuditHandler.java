package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.json.Json;
import dev.vivarium.model.ThreadId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `GET /threads/{thread_id}/audit` for its owner, `GET /admin/audit` for admins: who did what, in order. Thread-safe.
public final class AuditHandler {
    private static final int MOST = 1000;

    private final ThreadCallers callers;
    private final Audit audit;

    public AuditHandler(ThreadCallers callers, Audit audit) {
        this.callers = callers;
        this.audit = audit;
    }

    public void ofThread(Exchange exchange) throws IOException {
        exchange.allowQuery("after", "limit");
        send(exchange, Optional.of(callers.requireOwner(exchange).thread()));
    }

    public void ofAll(Exchange exchange) throws IOException {
        exchange.allowQuery("after", "limit");
        send(exchange, Optional.empty());
    }

    private void send(Exchange exchange, Optional<ThreadId> thread) throws IOException {
        var entries = audit.list(thread, Page.number(exchange, "after"), Page.limit(exchange, MOST));
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("entries");
            entries.forEach(entry -> write(out, entry));
            out.writeEndArray();
            if (!entries.isEmpty()) {
                out.writeNumberProperty("next_after", entries.getLast().seq());
            }
            out.writeNumberProperty("dropped", audit.dropped());
        });
    }

    private static void write(JsonGenerator out, Audit.Numbered numbered) {
        var entry = numbered.entry();
        out.writeStartObject();
        out.writeNumberProperty("seq", numbered.seq());
        Json.time(out, "at", entry.at());
        out.writeStringProperty("kind", entry.kind().text());
        out.writeNumberProperty("outcome", entry.outcome());
        out.writeStringProperty("route", entry.route());
        entry.jti().ifPresent(jti -> out.writeStringProperty("jti", jti));
        entry.user().ifPresent(user -> out.writeStringProperty("sub", user.value()));
        entry.sandbox().ifPresent(sandbox -> out.writeStringProperty("aud", sandbox.value()));
        entry.thread().ifPresent(thread -> out.writeStringProperty("thread_id", thread.value()));
        entry.scopes().ifPresent(scopes -> out.writeStringProperty("scope", scopes.text()));
        if (!entry.detail().isEmpty()) {
            out.writeStringProperty("detail", entry.detail());
        }
        out.writeEndObject();
    }
}
