package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.AuditQuery;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;

/// `GET /threads/{thread_id}/audit` for its owner, `GET /admin/audit` for admins: who did what, in order. Thread-safe.
public final class AuditHandler {
    private static final int MOST = 1000;

    /// Most memory that an entry needs, in bytes.
    private static final int ENTRY_BYTES = 1024;

    private final ThreadCallers callers;
    private final Audit audit;

    public AuditHandler(ThreadCallers callers, Audit audit) {
        this.callers = callers;
        this.audit = audit;
    }

    public void ofThread(Exchange exchange) throws IOException {
        exchange.allowQuery("after", "before", "limit", "user_id", "kind", "sandbox_id", "outcome");
        var thread = callers.requireOwner(exchange).thread();
        send(exchange, query(exchange).ofThread(thread));
    }

    public void ofAll(Exchange exchange) throws IOException {
        exchange.allowQuery("after", "before", "limit", "user_id", "kind", "sandbox_id", "thread_id", "outcome");
        var query = query(exchange);
        send(
                exchange,
                exchange.optionalQuery("thread_id")
                        .map(ThreadId::new)
                        .map(query::ofThread)
                        .orElse(query));
    }

    private static AuditQuery query(Exchange exchange) {
        return new AuditQuery(
                Optional.empty(),
                exchange.optionalQuery("sandbox_id").map(SandboxId::new),
                exchange.optionalQuery("user_id").map(UserId::new),
                exchange.optionalQuery("kind").map(AuditHandler::kind),
                exchange.optionalQuery("outcome").map(AuditHandler::outcome),
                PageQuery.number(exchange, "after"),
                PageQuery.number(exchange, "before"));
    }

    private static AuditEntry.Kind kind(String word) {
        return AuditEntry.Kind.find(word)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest(
                        "kind",
                        "must be one of "
                                + Arrays.stream(AuditEntry.Kind.values())
                                        .map(AuditEntry.Kind::text)
                                        .collect(Collectors.joining(", ")))));
    }

    private static AuditQuery.Outcome outcome(String word) {
        return switch (word) {
            case "done" -> AuditQuery.Outcome.DONE;
            case "refused" -> AuditQuery.Outcome.REFUSED;
            default -> throw new SandboxException(new Failure.InvalidRequest("outcome", "must be done or refused"));
        };
    }

    private void send(Exchange exchange, AuditQuery query) throws IOException {
        var entries = audit.list(query, PageQuery.limit(exchange, MOST));
        exchange.reserve((long) ENTRY_BYTES * entries.size());
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
