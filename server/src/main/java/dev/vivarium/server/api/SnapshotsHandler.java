package dev.vivarium.server.api;

import dev.vivarium.core.sandbox.Snapshots;
import dev.vivarium.core.store.DiskOrigins;
import dev.vivarium.json.SessionJson;
import dev.vivarium.json.SnapshotJson;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.ThreadSnapshots;
import java.io.IOException;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `/threads/{thread_id}/snapshots` and `/snapshots/{snapshot_id}`. Thread-safe.
public final class SnapshotsHandler {
    private final ThreadSnapshots snapshots;

    public SnapshotsHandler(ThreadSnapshots snapshots) {
        this.snapshots = snapshots;
    }

    /// `POST`.
    public void take(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = authorize(exchange);
        var fields = exchange.json();
        String name = fields.optionalString("name").orElse("");
        fields.refuseOthers();
        var snapshot = thread.take(name);
        exchange.answer(201, out -> SnapshotJson.write(out, snapshot));
    }

    /// `GET`.
    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var listing = authorize(exchange).list();
        exchange.answer(200, out -> {
            SnapshotJson.write(out, listing.snapshots(), Snapshots.PER_THREAD);
            out.writeArrayPropertyStart("forks");
            listing.forks().forEach(fork -> writeFork(out, fork));
            out.writeEndArray();
            listing.origin().ifPresent(origin -> writeOrigin(out, origin, listing.originThread()));
        });
    }

    private static void writeFork(JsonGenerator out, DiskOrigins.Origin fork) {
        out.writeStartObject();
        fork.forkedFrom().ifPresent(from -> out.writeStringProperty("snapshot_id", from.value()));
        out.writeStringProperty("thread_id", fork.thread().value());
        out.writeStringProperty("sandbox_id", fork.sandbox().value());
        out.writeEndObject();
    }

    private static void writeOrigin(JsonGenerator out, DiskOrigins.Origin origin, Optional<ThreadId> thread) {
        out.writeStringProperty("current_id", origin.snapshot().value());
        origin.forkedFrom().ifPresent(from -> {
            out.writeObjectPropertyStart("forked_from");
            out.writeStringProperty("snapshot_id", from.value());
            thread.ifPresent(known -> out.writeStringProperty("thread_id", known.value()));
            out.writeEndObject();
        });
    }

    /// `GET /snapshots/{snapshot_id}`.
    public void find(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var snapshot = snapshots.find(exchange.principal(), exchange.path("snapshot_id"));
        exchange.answer(200, out -> SnapshotJson.write(out, snapshot));
    }

    /// `DELETE …/{snapshot_id}`.
    public void delete(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = authorize(exchange);
        var snapshot = thread.require(exchange.path("snapshot_id"));
        thread.delete(snapshot);
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "deleted");
            out.writeStringProperty("snapshot_id", snapshot.id().value());
        });
    }

    /// `POST …/{snapshot_id}/restore`.
    public void restore(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = authorize(exchange);
        var sandbox = thread.restore(thread.require(exchange.path("snapshot_id")));
        exchange.answer(200, out -> SessionJson.write(out, sandbox, SessionJson.Found.EXISTING));
    }

    /// `POST …/{snapshot_id}/fork`.
    public void fork(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = authorize(exchange);
        var snapshot = thread.require(exchange.path("snapshot_id"));
        var fields = exchange.json();
        var target = new ThreadId(fields.string("thread_id"));
        var user = fields.optionalString("user_id").map(UserId::new);
        fields.refuseOthers();
        var sandbox = thread.fork(snapshot, new ThreadSnapshots.Fork(target, user));
        exchange.answer(201, out -> SessionJson.write(out, sandbox, SessionJson.Found.CREATED));
    }

    private ThreadSnapshots.Authorized authorize(Exchange exchange) {
        return snapshots.of(exchange.principal(), new ThreadId(exchange.path("thread_id")));
    }
}
