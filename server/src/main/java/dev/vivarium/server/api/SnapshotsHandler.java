package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.SNAPSHOT_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.TOKEN;

import dev.vivarium.core.sandbox.Snapshots;
import dev.vivarium.core.store.DiskOrigins;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.SessionJson;
import dev.vivarium.json.SnapshotJson;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.SnapshotInfo;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.ThreadSnapshots;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;

/// `/threads/{thread_id}/snapshots`: takes, lists, restores, forks and deletes snapshots of the files of a thread.
/// `/snapshots/{snapshot_id}` finds a snapshot by its id. Requires the scope `snapshot`. Thread-safe.
public final class SnapshotsHandler {
    private static final ObjectType<DiskOrigins.Origin> FORK_OF = object(
            "",
            field("snapshot_id", SNAPSHOT_ID, fork -> fork.forkedFrom().orElseThrow()),
            field("thread_id", THREAD_ID, fork -> fork.key().thread()),
            field("user_id", USER_ID, fork -> fork.key().user()),
            field("sandbox_id", SANDBOX_ID, DiskOrigins.Origin::sandbox));
    private static final ObjectType<ForkedFrom> FORKED_FROM = object(
            "",
            field("snapshot_id", SNAPSHOT_ID, ForkedFrom::snapshot),
            optional(
                    "thread_id",
                    THREAD_ID,
                    "Its thread, if the caller may see that thread.",
                    from -> from.thread().map(ThreadKey::thread)),
            optional(
                    "user_id",
                    USER_ID,
                    "The owner of that thread.",
                    from -> from.thread().map(ThreadKey::user)));
    private static final ObjectType<ThreadSnapshots.Listing> SNAPSHOTS = object(
            "Snapshots",
            field("snapshots", JsonType.list(SnapshotJson.SNAPSHOT), ThreadSnapshots.Listing::snapshots),
            field(
                    "total_bytes",
                    LONG,
                    listing -> listing.snapshots().stream()
                            .mapToLong(SnapshotInfo::bytes)
                            .sum()),
            field("limit", INT, "Maximum number of snapshots of a thread.", listing -> Snapshots.PER_THREAD),
            field(
                    "forks",
                    JsonType.list(FORK_OF),
                    "Sandboxes that were forked from these snapshots, as far as the caller may see them.",
                    ThreadSnapshots.Listing::forks),
            optional(
                    "current_id",
                    SNAPSHOT_ID,
                    "The snapshot that the disk of the sandbox was last saved as, restored from or forked from.",
                    listing -> listing.origin().map(DiskOrigins.Origin::snapshot)),
            optional(
                    "forked_from",
                    FORKED_FROM,
                    "The snapshot that the sandbox was forked from.",
                    SnapshotsHandler::forkedFrom));
    private static final ObjectType<Optional<String>> TAKE_REQUEST = object(
                    "TakeSnapshot",
                    Function.<Optional<String>>identity(),
                    optional("name", STRING.with("maxLength", 128)))
            .closed();
    private static final ObjectType<ThreadSnapshots.Fork> FORK_REQUEST = object(
                    "ForkSnapshot",
                    ThreadSnapshots.Fork::new,
                    field("thread_id", THREAD_ID),
                    optional("user_id", USER_ID, "For admins: the owner of the other thread."))
            .closed();
    private static final ObjectType<SnapshotInfo> DELETED = object(
            "DeletedSnapshot", constant("status", "deleted"), field("snapshot_id", SNAPSHOT_ID, SnapshotInfo::id));

    private record ForkedFrom(SnapshotId snapshot, Optional<ThreadKey> thread) {}

    public static final RouteDescription TAKE = RouteDescription.post("/threads/{thread_id}/snapshots", TOKEN)
            .named("takeSnapshot", "Take a snapshot of the files of a thread")
            .takes(TAKE_REQUEST)
            .answers(
                    201,
                    "The snapshot was taken. Processes were frozen meanwhile and now run again.",
                    SnapshotJson.SNAPSHOT)
            .fails(409, "The sandbox is starting, or the thread has the maximum number of snapshots.")
            .fails(500, 501, 507);

    public static final RouteDescription LIST = RouteDescription.get("/threads/{thread_id}/snapshots", TOKEN)
            .named("listSnapshots", "List the snapshots of a thread")
            .answers(200, "Oldest first.", SNAPSHOTS);

    public static final RouteDescription FIND = RouteDescription.get("/snapshots/{snapshot_id}", TOKEN)
            .named("findSnapshot", "Find a snapshot by its id")
            .answers(200, "The snapshot, with its thread.", SnapshotJson.SNAPSHOT);

    public static final RouteDescription DELETE = RouteDescription.delete(
                    "/threads/{thread_id}/snapshots/{snapshot_id}", TOKEN)
            .named("deleteSnapshot", "Delete a snapshot")
            .answers(200, """
                    The snapshot was deleted. Sandboxes that were restored or forked from it remain.""", DELETED)
            .fails(500);

    public static final RouteDescription RESTORE = RouteDescription.post(
                    "/threads/{thread_id}/snapshots/{snapshot_id}/restore", TOKEN)
            .named("restoreSnapshot", "Restore the sandbox of a thread to a snapshot")
            .answers(
                    200,
                    "The sandbox has the files of the snapshot and runs. Its processes have ended.",
                    SessionJson.SESSION)
            .fails(409, "The sandbox is starting.")
            .fails(501, "The disk of the snapshot and the disk of the sandbox have different sizes.")
            .fails(500, 507);

    public static final RouteDescription FORK = RouteDescription.post(
                    "/threads/{thread_id}/snapshots/{snapshot_id}/fork", TOKEN)
            .named("forkSnapshot", "Create a sandbox for another thread from a snapshot")
            .takes(FORK_REQUEST)
            .answers(201, "The sandbox of the other thread.", SessionJson.SESSION)
            .fails(409, "The other thread already has a sandbox.")
            .fails(500, 507);

    private final ThreadSnapshots snapshots;
    private final ThreadResolver resolver;

    public SnapshotsHandler(ThreadSnapshots snapshots, ThreadResolver resolver) {
        this.resolver = resolver;
        this.snapshots = snapshots;
    }

    public void take(Exchange exchange) throws IOException {
        var thread = authorize(exchange);
        String name = exchange.json(TAKE_REQUEST).orElse("");
        exchange.answer(201, SnapshotJson.SNAPSHOT, thread.take(name));
    }

    public void list(Exchange exchange) throws IOException {
        exchange.answer(200, SNAPSHOTS, authorize(exchange).list());
    }

    private static Optional<ForkedFrom> forkedFrom(ThreadSnapshots.Listing listing) {
        return listing.origin()
                .flatMap(DiskOrigins.Origin::forkedFrom)
                .map(from -> new ForkedFrom(from, listing.originThread()));
    }

    public void find(Exchange exchange) throws IOException {
        exchange.answer(200, SnapshotJson.SNAPSHOT, snapshots.find(exchange.principal(), exchange.path("snapshot_id")));
    }

    public void delete(Exchange exchange) throws IOException {
        var thread = authorize(exchange);
        var snapshot = thread.require(exchange.path("snapshot_id"));
        thread.delete(snapshot);
        exchange.answer(200, DELETED, snapshot);
    }

    public void restore(Exchange exchange) throws IOException {
        var thread = authorize(exchange);
        var sandbox = thread.restore(thread.require(exchange.path("snapshot_id")));
        exchange.answer(200, SessionJson.SESSION, new SessionJson.Session(sandbox, SessionJson.Found.EXISTING));
    }

    public void fork(Exchange exchange) throws IOException {
        var thread = authorize(exchange);
        var snapshot = thread.require(exchange.path("snapshot_id"));
        var sandbox = thread.fork(snapshot, exchange.json(FORK_REQUEST));
        exchange.answer(201, SessionJson.SESSION, new SessionJson.Session(sandbox, SessionJson.Found.CREATED));
    }

    private ThreadSnapshots.Authorized authorize(Exchange exchange) {
        return snapshots.of(exchange.principal(), resolver.require(exchange));
    }
}
