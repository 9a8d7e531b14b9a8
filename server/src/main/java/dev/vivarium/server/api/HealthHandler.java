package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.NUMBER;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.OPEN;

import dev.vivarium.core.guard.anomaly.HealthSample;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.DiskSpace;
import dev.vivarium.core.sandbox.PoolStatus;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// `GET /health`: state of the server, for load balancers and people. It needs no credential, so it reports only the
/// number of sessions. A platform thread serves it and waits for no other thread, so it responds when the rest of the
/// server does not. Thread-safe.
public final class HealthHandler {
    /// Values of `status`.
    static final JsonType<String> STATUS = STRING.with("enum", List.of("healthy", "degraded", "unhealthy"));

    private static final ObjectType<Provider> PROVIDER = object(
            "",
            field("name", STRING, Provider::name),
            field("isolates", BOOLEAN, provider -> provider.capabilities().isolates()),
            field("isolation", STRING, provider -> provider.capabilities().isolation()),
            field("disk_limit", STRING, provider -> provider.capabilities().diskLimit()),
            field(
                    "snapshots",
                    STRING.with("enum", List.of("reflink", "copy", "none")),
                    "Whether snapshots share unchanged blocks.",
                    provider -> provider.capabilities().snapshots()),
            field("cgroups", STRING, provider -> provider.capabilities().cgroups()),
            field(
                    "processes",
                    STRING.with("enum", List.of("kernel", "none")),
                    "Who reports the processes that a command starts. With `none` they have no events.",
                    provider -> provider.capabilities().processes()));
    private static final ObjectType<DiskSpace.Reading> DISK = object(
            "",
            field(
                    "state",
                    JsonType.constants(DiskSpace.Level.class, DiskSpace.Level::text),
                    """
                    `low`: below the low-water mark. The server creates no sandboxes and snapshots, and freezes the \
                    sandbox that grows most. `full`: the server also rejects uploads and events.""",
                    DiskSpace.Reading::level),
            field("free_bytes", LONG, DiskSpace.Reading::freeBytes),
            field("low_water_bytes", LONG, DiskSpace.Reading::lowWaterBytes));
    static final ObjectType<HealthSample> WORK = object(
            "HealthOfWork",
            field("sampled_at", TIME, HealthSample::at),
            field("queue_depth", LONG, "Tasks that are ready and wait for their run.", HealthSample::queueDepth),
            optional(
                    "oldest_ready_seconds",
                    NUMBER,
                    "Time that the oldest of them has waited.",
                    sample -> sample.oldestReady().map(waited -> waited.toMillis() / 1000.0)),
            field("runs_last_hour", LONG, "Runs that were completed or failed.", HealthSample::runsEnded),
            field("failure_rate", NUMBER, "Share of failed runs among them, 0 to 1.", HealthSample::failureRate),
            field(
                    "store_latency_ms",
                    NUMBER,
                    "Duration of one transaction.",
                    sample -> sample.storeLatency().toNanos() / 1_000_000.0));
    static final String WORK_TEXT =
            "Figures about the queue and the runs of all users, every 30 s. Absent in the first second.";
    private static final ObjectType<Report> REPORT = object(
            "Health",
            field("status", STATUS, """
                    `degraded` (200): disk space is low, sandboxes run, and the server creates no new ones. \
                    `unhealthy` (503): a part fails.""", Report::status),
            optional(
                    "failing",
                    JsonType.map(STRING),
                    """
                    Each failing part with the reason: `store`, `guest_loop` (the loop that reads from all sandboxes), \
                    `scheduler` (no virtual thread runs, so the server handles no request), `provider`, `server`.""",
                    report -> report.failing().isEmpty() ? Optional.empty() : Optional.of(report.failing())),
            field("worker_id", STRING, report -> report.node().workerId()),
            field("version", STRING, report -> report.node().version()),
            field("pool_size", INT, report -> report.pool().target()),
            field("pool_available", INT, report -> report.pool().available()),
            field("active_sessions", INT, report -> report.pool().active()),
            field("max_sessions", INT, report -> report.pool().capacity()),
            field("uptime_seconds", LONG, report -> report.uptime().toSeconds()),
            field("redis_connected", BOOLEAN, report -> false),
            field("store", STRING, report -> report.node().store()),
            field("bus", STRING, report -> "memory"),
            field("provider", PROVIDER, Report::provider),
            field("disk", DISK, "The file system of the home directory of the server.", Report::disk),
            field("image", STRING, report -> report.node().image()),
            optional("work", WORK, WORK_TEXT, Report::work));

    private record Report(
            String status,
            Map<String, String> failing,
            Node node,
            PoolStatus pool,
            Duration uptime,
            Provider provider,
            DiskSpace.Reading disk,
            Optional<HealthSample> work) {}

    public static final RouteDescription HEALTH = RouteDescription.get("/health", OPEN)
            .named("health", "Report the health of the server")
            .text("""
                    Dedicated threads serve this route, so it responds while the rest of the server does not. \
                    The server checks its parts every second. A part that does not respond within 2 s fails. The \
                    server closes the connection after the response.""")
            .answers(200, "The server is healthy or degraded.", REPORT)
            .answers(503, "The server is unhealthy. `failing` names the part.", REPORT);

    private final Node node;
    private final Sandboxes sandboxes;
    private final Provider provider;
    private final HealthChecks checks;
    private final InstantSource clock;
    private final Instant started;

    public HealthHandler(Node node, Sandboxes sandboxes, Provider provider, HealthChecks checks, InstantSource clock) {
        this.node = node;
        this.sandboxes = sandboxes;
        this.provider = provider;
        this.checks = checks;
        this.clock = clock;
        this.started = clock.instant();
    }

    /// Identity of this server.
    public record Node(String workerId, String version, String image, String store) {}

    public void handle(Exchange exchange) throws IOException {
        var failing = checks.failing();
        // With one request per connection, the response always fits into the socket buffer.
        exchange.answerHeader("Connection", "close");
        var report = new Report(
                checks.status(failing),
                failing,
                node,
                sandboxes.pool(),
                Duration.between(started, clock.instant()),
                provider,
                checks.disk(),
                checks.work());
        exchange.answer(failing.isEmpty() ? 200 : 503, REPORT, report);
    }
}
