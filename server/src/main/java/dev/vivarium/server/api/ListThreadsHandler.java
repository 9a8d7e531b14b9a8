package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.Json;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `GET /threads`: the caller's own threads and those they were invited to; for an admin all, or those of one user.
/// Thread-safe.
public final class ListThreadsHandler {
    private static final int MOST = 1000;

    private final Threads threads;
    private final Sandboxes sandboxes;

    public ListThreadsHandler(Threads threads, Sandboxes sandboxes) {
        this.threads = threads;
        this.sandboxes = sandboxes;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery("user_id", "after", "limit");
        int limit = PageQuery.limit(exchange, MOST);
        var found = threads.list(user(exchange), exchange.optionalQuery("after").orElse(""), limit);
        var alive = new HashMap<ThreadId, SandboxInfo>();
        sandboxes.list().forEach(info -> alive.put(info.thread(), info));
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("threads");
            found.forEach(entry -> write(out, entry, alive, exchange.principal()));
            out.writeEndArray();
            if (found.size() == limit) {
                out.writeStringProperty("next_after", found.getLast().thread().value());
            }
        });
    }

    /// A user sees their own, whatever they ask for.
    private static Optional<UserId> user(Exchange exchange) {
        return exchange.principal() instanceof Principal.Admin
                ? exchange.optionalQuery("user_id").map(UserId::new)
                : exchange.principal().user();
    }

    private static void write(
            JsonGenerator out, Threads.Entry entry, Map<ThreadId, SandboxInfo> alive, Principal caller) {
        out.writeStartObject();
        out.writeStringProperty("thread_id", entry.thread().value());
        out.writeStringProperty("user_id", entry.owner().value());
        out.writeStringProperty("role", caller.mayActFor(entry.owner()) ? "owner" : "member");
        Json.time(out, "created_at", entry.createdAt());
        var info = alive.get(entry.thread());
        if (info != null) {
            out.writeObjectPropertyStart("sandbox");
            ThreadHandler.write(out, info);
            out.writeEndObject();
        }
        out.writeEndObject();
    }
}
