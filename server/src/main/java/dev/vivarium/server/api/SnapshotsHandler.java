package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.sandbox.Snapshots;
import dev.vivarium.core.store.DiskOrigins;
import dev.vivarium.json.SessionJson;
import dev.vivarium.json.SnapshotJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `/threads/{thread_id}/snapshots`: takes, lists, restores, forks and deletes what a thread's files were; and
/// `/snapshots/{snapshot_id}`, for those who only know its id. Needs the scope `snapshot`. Thread-safe.
public final class SnapshotsHandler {
    private final Sandboxes sandboxes;
    private final Rights rights;
    private final Duration lease;

    /// `lease` is how long the unused sandbox of a fork lives, as any thread's.
    public SnapshotsHandler(Sandboxes sandboxes, Rights rights, Duration lease) {
        this.sandboxes = sandboxes;
        this.rights = rights;
        this.lease = lease;
    }

    /// `POST`: saves the files of the thread's sandbox as they are.
    public void take(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = admit(exchange);
        var fields = exchange.json();
        String name = fields.optionalString("name").orElse("");
        fields.refuseOthers();
        var snapshot = sandboxes.snapshots().take(sandboxes.require(thread), name);
        exchange.answer(201, out -> SnapshotJson.write(out, snapshot));
    }

    /// `GET`: oldest first, with what came of which.
    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var thread = admit(exchange);
        var all = sandboxes.snapshots().list(thread);
        var forks = sandboxes.snapshots().origins().forksOf(thread).stream()
                .filter(fork -> scopes(exchange.principal(), fork.thread()).isPresent())
                .toList();
        var origin = sandboxes
                .find(thread)
                .flatMap(sandbox -> sandboxes.snapshots().origins().find(sandbox.id()));
        exchange.answer(200, out -> {
            SnapshotJson.write(out, all, Snapshots.PER_THREAD);
            out.writeArrayPropertyStart("forks");
            forks.forEach(fork -> writeFork(out, fork));
            out.writeEndArray();
            origin.ifPresent(known -> writeOrigin(out, exchange.principal(), known));
        });
    }

    private static void writeFork(JsonGenerator out, DiskOrigins.Origin fork) {
        out.writeStartObject();
        fork.forkedFrom().ifPresent(from -> out.writeStringProperty("snapshot_id", from.value()));
        out.writeStringProperty("thread_id", fork.thread().value());
        out.writeStringProperty("sandbox_id", fork.sandbox().value());
        out.writeEndObject();
    }

    /// Where the disk of the thread's sandbox comes from. Whose thread that was is told to those who may see it.
    private void writeOrigin(JsonGenerator out, Principal caller, DiskOrigins.Origin origin) {
        out.writeStringProperty("current_id", origin.snapshot().value());
        origin.forkedFrom().ifPresent(from -> {
            out.writeObjectPropertyStart("forked_from");
            out.writeStringProperty("snapshot_id", from.value());
            sandboxes
                    .snapshots()
                    .find(from.value())
                    .filter(snapshot -> scopes(caller, snapshot.thread()).isPresent())
                    .ifPresent(snapshot -> out.writeStringProperty(
                            "thread_id", snapshot.thread().value()));
            out.writeEndObject();
        });
    }

    /// `GET /snapshots/{snapshot_id}`: whose it is, so that an id alone is enough to go on.
    public void find(Exchange exchange) throws IOException {
        exchange.allowQuery();
        String id = exchange.path("snapshot_id");
        var snapshot = sandboxes
                .snapshots()
                .find(id)
                .filter(found -> scopes(exchange.principal(), found.thread()).isPresent())
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSnapshot(id)));
        admit(exchange.principal(), snapshot.thread());
        exchange.answer(200, out -> SnapshotJson.write(out, snapshot));
    }

    /// `DELETE …/{snapshot_id}`: what came of it stays.
    public void delete(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var snapshot = require(exchange);
        sandboxes.snapshots().delete(snapshot);
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "deleted");
            out.writeStringProperty("snapshot_id", snapshot.id().value());
        });
    }

    /// `POST …/{snapshot_id}/restore`: the sandbox keeps its id and loses its processes.
    public void restore(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var snapshot = require(exchange);
        Sandbox sandbox = sandboxes.require(snapshot.thread());
        sandboxes.snapshots().restore(sandbox, snapshot);
        exchange.answer(200, out -> SessionJson.write(out, sandbox.info(), SessionJson.Found.EXISTING));
    }

    /// `POST …/{snapshot_id}/fork`: a sandbox of its own for another thread, which is the caller's.
    public void fork(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var snapshot = require(exchange);
        var fields = exchange.json();
        var thread = new ThreadId(fields.string("thread_id"));
        var user = fields.optionalString("user_id").map(UserId::new);
        fields.refuseOthers();
        var request = NewSandbox.of(owner(exchange.principal(), user, snapshot), thread)
                .withIdleTimeout(lease);
        Sandbox sandbox = sandboxes.fork(request, snapshot);
        exchange.answer(201, out -> SessionJson.write(out, sandbox.info(), SessionJson.Found.CREATED));
    }

    /// A user forks for themselves. An admin forks for whomever they name, or else for the owner of the snapshot.
    private UserId owner(Principal caller, Optional<UserId> wanted, SnapshotInfo snapshot) {
        if (wanted.isPresent() && !caller.mayActFor(wanted.get())) {
            throw new SandboxException(new Failure.NotAllowed("a fork is for its caller; leave user_id out"));
        }
        return wanted.or(caller::user)
                .or(() -> sandboxes.ownerOf(snapshot.thread()))
                .orElse(caller.name());
    }

    private SnapshotInfo require(Exchange exchange) {
        return sandboxes.snapshots().require(admit(exchange), exchange.path("snapshot_id"));
    }

    /// The thread of the path, for whoever may save it; for strangers it is not there.
    private ThreadId admit(Exchange exchange) {
        return admit(exchange.principal(), new ThreadId(exchange.path("thread_id")));
    }

    private ThreadId admit(Principal caller, ThreadId thread) {
        var scopes =
                scopes(caller, thread).orElseThrow(() -> new SandboxException(new Failure.NoSandboxForThread(thread)));
        if (!scopes.allows(Scope.SNAPSHOT)) {
            throw new SandboxException(new Failure.NotAllowed("this needs the scope " + Scope.SNAPSHOT.text()));
        }
        return thread;
    }

    private Optional<Scopes> scopes(Principal caller, ThreadId thread) {
        return sandboxes.ownerOf(thread).flatMap(owner -> scopes(caller, thread, owner));
    }

    private Optional<Scopes> scopes(Principal caller, ThreadId thread, UserId owner) {
        return switch (caller) {
            case Principal.Admin _ -> rights.ofUser(owner, thread, owner);
            case Principal.User(var user) -> rights.ofUser(user, thread, owner);
            case Principal.Holder(var grant) ->
                grant.thread().equals(thread)
                        ? rights.of(caller, new Rights.Target(grant.sandbox(), thread, owner))
                        : Optional.empty();
            case Principal.Worker _ -> Optional.empty();
        };
    }
}
