package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.NUMBER;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.guard.anomaly.HealthSample;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.PoolStatus;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.SessionJson;
import dev.vivarium.server.http.Descriptors;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.SandboxRule;
import dev.vivarium.server.telemetry.Host;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/// `GET /api/v1/node`: the state of the server and its machine, and the limits for sandboxes. Thread-safe.
public final class NodeHandler {
    private static final ObjectType<Provider> PROVIDER = object(
            "",
            field("name", STRING, Provider::name),
            field("isolates", BOOLEAN, provider -> provider.capabilities().isolates()));
    private static final ObjectType<PoolStatus> POOL = object(
            "",
            field("target", INT, "Target number of warm machines.", PoolStatus::target),
            field("available", INT, "Number of warm machines.", PoolStatus::available));
    private static final ObjectType<PoolStatus> SANDBOXES = object(
            "",
            field("active", INT, PoolStatus::active),
            field("hibernated", INT, PoolStatus::hibernated),
            field("most", INT, PoolStatus::capacity));
    private static final ObjectType<Host.Reading> HOST = object(
            "",
            field("cpus", INT, Host.Reading::cpus),
            optional(
                    "load",
                    NUMBER,
                    "The load average of the last minute. Absent if the system does not provide it.",
                    host -> host.load() >= 0 ? Optional.of(host.load()) : Optional.empty()),
            field("memory_bytes", LONG, host -> host.memory().bytes()),
            field(
                    "memory_free_bytes",
                    LONG,
                    "Available memory, including caches.",
                    host -> host.memory().free()),
            field(
                    "disk_bytes",
                    LONG,
                    "The disk of the home directory of the server.",
                    host -> host.disk().bytes()),
            field("disk_free_bytes", LONG, host -> host.disk().free()));
    private static final ObjectType<FileDescriptors> DESCRIPTORS = object(
            "",
            field("limit", INT, "Maximum number of open file descriptors.", FileDescriptors::limit),
            optional(
                    "open",
                    INT,
                    "Number of open file descriptors. Absent if the system does not provide it.",
                    FileDescriptors::open));
    private static final ObjectType<AgentSupport.Reading> AGENTS = object(
            "",
            field("worker_image", STRING, "The image with the SDKs of the agents.", AgentSupport.Reading::image),
            field("has_worker_image", BOOLEAN, "Whether that image exists.", AgentSupport.Reading::hasImage),
            field(
                    "models",
                    JsonType.list(STRING),
                    "The model APIs that the operator configured: `anthropic`, `openai`.",
                    AgentSupport.Reading::models));
    private static final ObjectType<Report> REPORT = object(
            "Node",
            field("status", HealthHandler.STATUS, Report::status),
            field("failing", JsonType.map(STRING), "Each failing part with the reason.", Report::failing),
            field("version", STRING, report -> report.node().version()),
            field("store", STRING, report -> report.node().store()),
            field(
                    "image",
                    STRING,
                    "The default image of sandboxes.",
                    report -> report.node().image()),
            field("provider", PROVIDER, Report::provider),
            field("pool", POOL, Report::pool),
            field("sandboxes", SANDBOXES, Report::pool),
            field(
                    "limits",
                    SessionJson.LIMITS,
                    "Default and maximum limits of a sandbox.",
                    report -> report.rule().limits()),
            field(
                    "most_timeout_minutes",
                    NUMBER,
                    "Maximum idle timeout of a sandbox.",
                    report -> report.rule().maxIdle().toSeconds() / 60.0),
            field("agents", AGENTS, "What `claude` and `openhands` agents need.", Report::agents),
            field("host", HOST, Report::host),
            optional("descriptors", DESCRIPTORS, report -> Optional.of(FileDescriptors.now())),
            optional("work", HealthHandler.WORK, HealthHandler.WORK_TEXT, Report::work));

    private record Report(
            String status,
            Map<String, String> failing,
            HealthHandler.Node node,
            Provider provider,
            PoolStatus pool,
            SandboxRule rule,
            AgentSupport.Reading agents,
            Host.Reading host,
            Optional<HealthSample> work) {}

    private record FileDescriptors(int limit, Optional<Integer> open) {
        static FileDescriptors now() {
            return new FileDescriptors(
                    Descriptors.limit(), Descriptors.open().stream().boxed().findFirst());
        }
    }

    public static final RouteDescription NODE = RouteDescription.get("/api/v1/node", KEY)
            .named("node", "Report the state of the server and its machine, and the limits for sandboxes")
            .text("The status is 200 in every state. `status` has the state.")
            .answers(200, "The state of the server.", REPORT);

    private final HealthHandler.Node node;
    private final HealthChecks checks;
    private final Sandboxes sandboxes;
    private final Provider provider;
    private final SandboxRule rule;
    private final AgentSupport agents;
    private final Host host;

    public NodeHandler(
            HealthHandler.Node node,
            HealthChecks checks,
            Sandboxes sandboxes,
            Provider provider,
            SandboxRule rule,
            AgentSupport agents,
            Host host) {
        this.node = node;
        this.checks = checks;
        this.sandboxes = sandboxes;
        this.provider = provider;
        this.rule = rule;
        this.agents = agents;
        this.host = host;
    }

    /// The status is 200 in every state of the server.
    public void handle(Exchange exchange) throws IOException {
        var failing = checks.failing();
        exchange.answer(
                200,
                REPORT,
                new Report(
                        checks.status(failing),
                        failing,
                        node,
                        provider,
                        sandboxes.pool(),
                        rule,
                        agents.read(),
                        host.read(),
                        checks.work()));
    }
}
