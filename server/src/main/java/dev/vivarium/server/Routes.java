package dev.vivarium.server;

import static dev.vivarium.server.api.ValidationErrors.insteadOfInvalid;
import static dev.vivarium.server.http.Route.Access.ADMIN;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.OPEN;
import static dev.vivarium.server.http.Route.Access.OWN;
import static dev.vivarium.server.http.Route.Access.TOKEN;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.access.Keys;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.api.CleanupHandler;
import dev.vivarium.server.api.CommandResponse;
import dev.vivarium.server.api.CreateSessionHandler;
import dev.vivarium.server.api.DownloadFileHandler;
import dev.vivarium.server.api.EventsHandler;
import dev.vivarium.server.api.ExecuteHandler;
import dev.vivarium.server.api.FeedHandler;
import dev.vivarium.server.api.GetSessionHandler;
import dev.vivarium.server.api.HealthChecks;
import dev.vivarium.server.api.HealthHandler;
import dev.vivarium.server.api.KeysHandler;
import dev.vivarium.server.api.ListFilesHandler;
import dev.vivarium.server.api.MessagesHandler;
import dev.vivarium.server.api.MetricsHandler;
import dev.vivarium.server.api.NodeHandler;
import dev.vivarium.server.api.OpenApiHandler;
import dev.vivarium.server.api.SandboxRule;
import dev.vivarium.server.api.SnapshotsHandler;
import dev.vivarium.server.api.UploadFileHandler;
import dev.vivarium.server.api.WelcomeHandler;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.http.HostRoute;
import dev.vivarium.server.http.RateLimits;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.operation.EnvironmentRule;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.operation.PauseSandbox;
import dev.vivarium.server.operation.ReadTerminal;
import dev.vivarium.server.operation.RunCommand;
import dev.vivarium.server.operation.SendMessage;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.preview.PreviewHosts;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.PreviewConfig;
import dev.vivarium.server.socket.ShellAudit;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.SocketAudit;
import dev.vivarium.server.socket.Sockets;
import dev.vivarium.server.socket.SocketsHandler;
import dev.vivarium.server.telemetry.Host;
import dev.vivarium.server.telemetry.Metrics;
import dev.vivarium.server.telemetry.Telemetry;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/// Every route of the server. To add one: write its handler, name it here, and describe it in `openapi.json`, which a
/// test compares with this list.
final class Routes {
    private static final String V1 = "/api/v1/sandboxes/{sandbox_id}";

    /// How much more output of commands may wait on the disk than in memory.
    private static final int ON_DISK = 16;

    private Routes() {}

    /// What handlers are made of.
    record Parts(
            Config config,
            Db db,
            EventLog log,
            Inbox inbox,
            RunRoutes.Agency agency,
            WatchRoutes.Sight sight,
            Provider provider,
            Sandboxes sandboxes,
            HealthChecks health,
            Keys keys,
            ConsoleRoutes.Front front,
            ThreadRoutes.Access access,
            Telemetry telemetry,
            Metrics metrics,
            PreviewHandler preview,
            Sockets sockets,
            RateLimits limits) {}

    /// The hosts that show ports of sandboxes.
    static List<HostRoute> hosts(PreviewHandler preview, PreviewConfig config) {
        var hosts = new PreviewHosts(config.domain());
        return List.of(new HostRoute(hosts::find, Route.any("/{rest…}", OWN, preview::byHost)));
    }

    static List<Route> of(Parts parts, InstantSource clock) {
        var config = parts.config();
        var callers = callers(config, parts.sandboxes());
        var files = new ByteBudget(ON_DISK * parts.sandboxes().memory().limit());
        var operations = operations(parts);
        var response = new CommandResponse(operations.commands(), config.home().resolve("tmp"), files);
        var routes = new ArrayList<>(sessions(parts, clock, callers, response));
        routes.addAll(snapshots(parts));
        routes.addAll(events(parts, operations, clock));
        routes.addAll(WatchRoutes.of(parts.sight(), operations, parts.log()));
        routes.addAll(RunRoutes.of(parts, operations, callers, clock));
        routes.addAll(sockets(parts, operations, clock, callers));
        routes.addAll(DataRoutes.of(operations, callers, response, config.calls(), parts.telemetry()));
        routes.addAll(ThreadRoutes.of(parts, callers, clock));
        routes.addAll(ConsoleRoutes.of(parts, clock));
        return List.copyOf(routes);
    }

    private static Operations operations(Parts parts) {
        var agency = parts.agency();
        return new Operations(
                new RunCommand(parts.config().calls(), parts.telemetry()),
                new PauseSandbox(agency.agents(), agency.runs()),
                new SendMessage(parts.inbox(), agency.runs()),
                new ListFiles(),
                new ReadTerminal(parts.log()));
    }

    /// Finds sandboxes, and wakes them if the server is to do that.
    static Callers callers(Config config, Sandboxes sandboxes) {
        var waking = config.calls().wakeOnTraffic() ? Callers.Waking.ON_TRAFFIC : Callers.Waking.BY_HAND;
        return new Callers(sandboxes, waking);
    }

    /// The rule for requests that create a sandbox.
    static SandboxRule rule(Config config) {
        return new SandboxRule(
                config.engine(), new EnvironmentRule(config.calls().policy()));
    }

    private static List<Route> sessions(Parts parts, InstantSource clock, Callers callers, CommandResponse response) {
        var config = parts.config();
        var spool = config.home().resolve("tmp");
        var keys = new KeysHandler(parts.keys());
        var preview = parts.preview();
        var shells = new ShellsHandler(callers);
        return List.of(
                Route.get("/", OPEN, new WelcomeHandler(parts.front().pages())::handle),
                Route.get("/health", OPEN, health(parts, clock)::handle),
                Route.get("/api/v1/node", KEY, node(parts)::handle),
                Route.get("/openapi.json", OPEN, new OpenApiHandler()::handle),
                Route.post("/create_session", KEY, new CreateSessionHandler(parts.sandboxes(), rule(config))::handle),
                Route.get("/get_session", KEY, new GetSessionHandler(parts.sandboxes())::handle),
                Route.post("/execute", KEY, new ExecuteHandler(callers, response)::handle),
                Route.post(
                        "/upload_file",
                        KEY,
                        new UploadFileHandler(callers, config.calls(), parts.telemetry(), spool)::handle),
                Route.post("/download_file", KEY, new DownloadFileHandler(callers, parts.telemetry())::handle),
                Route.get("/list_files", KEY, new ListFilesHandler(callers)::handle),
                Route.post("/cleanup", KEY, new CleanupHandler(parts.sandboxes(), callers)::handle),
                Route.get("/sandboxes/{sandbox_id}/shells", Route.Access.scoped(Scope.SHELL_RO), shells::list),
                Route.post("/sandboxes/{sandbox_id}/shells", Route.Access.scoped(Scope.SHELL), shells::open),
                Route.delete(
                        "/sandboxes/{sandbox_id}/shells/{session_id}", Route.Access.scoped(Scope.SHELL), shells::end),
                Route.get("/metrics", KEY, new MetricsHandler(parts.metrics())::handle),
                Route.any("/sandboxes/{sandbox_id}/ports/{port}", OWN, preview::addSlash),
                Route.any("/sandboxes/{sandbox_id}/ports/{port}/{rest…}", OWN, preview::byPath),
                Route.post("/admin/keys", ADMIN, keys::issue),
                Route.get("/admin/keys", ADMIN, keys::list),
                Route.delete("/admin/keys/{key_id}", ADMIN, keys::revoke));
    }

    private static List<Route> snapshots(Parts parts) {
        var access = parts.access();
        var snapshots = new SnapshotsHandler(
                parts.sandboxes(), access.rights(), access.config().lease());
        return List.of(
                Route.post("/threads/{thread_id}/snapshots", TOKEN, snapshots::take),
                Route.get("/threads/{thread_id}/snapshots", TOKEN, snapshots::list),
                Route.get("/snapshots/{snapshot_id}", TOKEN, snapshots::find),
                Route.delete("/threads/{thread_id}/snapshots/{snapshot_id}", TOKEN, snapshots::delete),
                Route.post("/threads/{thread_id}/snapshots/{snapshot_id}/restore", TOKEN, snapshots::restore),
                Route.post("/threads/{thread_id}/snapshots/{snapshot_id}/fork", TOKEN, snapshots::fork));
    }

    private static List<Route> sockets(Parts parts, Operations operations, InstantSource clock, Callers callers) {
        var audit = parts.access().audit();
        var shells = new ShellAudit(new SocketAudit(audit, clock, ShellAudit.ROUTE), parts.telemetry());
        var watchers = new SocketAudit(audit, clock, "GET /ws/sandboxes/{sandbox_id}");
        var listeners = new SocketAudit(audit, clock, "GET /api/v1/ws/events");
        var feed = new Feed(parts.log(), parts.sandboxes(), parts.access().rights());
        var handler = new SocketsHandler(
                parts.sockets(),
                new SocketsHandler.Doors(shells, watchers, listeners),
                callers,
                parts.log(),
                operations,
                feed);
        return List.of(
                Route.get("/sandboxes/{sandbox_id}/shell", OPEN, handler::shell),
                Route.get("/ws/sandboxes/{sandbox_id}", OPEN, handler::events),
                Route.get("/api/v1/ws/events", OPEN, handler::feed),
                Route.get("/api/v1/events", KEY, new FeedHandler(feed)::stream));
    }

    private static List<Route> events(Parts parts, Operations operations, InstantSource clock) {
        var runs = parts.agency().runs();
        var breath = parts.config().watch().breath();
        var events = new EventsHandler(
                parts.log(),
                parts.inbox(),
                parts.agency().events(),
                parts.sockets().presence(),
                clock,
                breath);
        var messages = new MessagesHandler(operations.messages(), parts.inbox(), runs, breath);
        return List.of(
                Route.post(V1 + "/messages", Route.Access.scoped(Scope.PROCESS), insteadOfInvalid(messages::post)),
                Route.get(V1 + "/messages", Route.Access.inside(Scope.PROCESS), messages::take),
                Route.post(
                        V1 + "/interventions",
                        Route.Access.scoped(Scope.PROCESS),
                        insteadOfInvalid(messages::intervene)),
                Route.get(V1 + "/events", Route.Access.kept(Scope.SHELL_RO), events::list),
                Route.post(V1 + "/events", Route.Access.inside(Scope.PROCESS), insteadOfInvalid(events::append)));
    }

    private static HealthHandler health(Parts parts, InstantSource clock) {
        return new HealthHandler(self(parts), parts.sandboxes(), parts.provider(), parts.health(), clock);
    }

    private static NodeHandler node(Parts parts) {
        var config = parts.config();
        return new NodeHandler(
                self(parts),
                parts.health(),
                parts.sandboxes(),
                parts.provider(),
                rule(config),
                new Host(config.home()));
    }

    private static HealthHandler.Node self(Parts parts) {
        var config = parts.config();
        return new HealthHandler.Node(
                config.workerId(),
                Version.current(),
                config.engine().image(),
                parts.db().name());
    }
}
