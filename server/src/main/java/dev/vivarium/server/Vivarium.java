package dev.vivarium.server;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.Undo;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.lifecycle.LifecycleEvents;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.sandbox.HomeCheck;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.sandbox.SandboxesConfig;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.watch.FileHistory;
import dev.vivarium.core.watch.Watchers;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.server.access.SandboxLookup;
import dev.vivarium.server.api.AdminSandboxesHandler;
import dev.vivarium.server.api.AuditHandler;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.api.CommandResponse;
import dev.vivarium.server.api.ConnectionsHandler;
import dev.vivarium.server.api.EventsHandler;
import dev.vivarium.server.api.FeedHandler;
import dev.vivarium.server.api.HealthChecks;
import dev.vivarium.server.api.KeysHandler;
import dev.vivarium.server.api.MessagesHandler;
import dev.vivarium.server.api.RunLifeHandler;
import dev.vivarium.server.api.SnapshotsHandler;
import dev.vivarium.server.api.ThreadCallers;
import dev.vivarium.server.api.ViewHandler;
import dev.vivarium.server.console.Pages;
import dev.vivarium.server.console.PagesHandler;
import dev.vivarium.server.console.SessionHandler;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.http.AccessAudit;
import dev.vivarium.server.http.AccessRegistry;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.CredentialStore;
import dev.vivarium.server.http.DrainGate;
import dev.vivarium.server.http.Edge;
import dev.vivarium.server.http.Origins;
import dev.vivarium.server.http.RateLimits;
import dev.vivarium.server.http.RequestLimits;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.http.Router;
import dev.vivarium.server.http.RouterSelector;
import dev.vivarium.server.model.CostRecorder;
import dev.vivarium.server.model.ModelHandler;
import dev.vivarium.server.operation.CreateSandbox;
import dev.vivarium.server.operation.EndSandbox;
import dev.vivarium.server.operation.GetSandbox;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.operation.PauseSandbox;
import dev.vivarium.server.operation.ReadTerminal;
import dev.vivarium.server.operation.RunCommand;
import dev.vivarium.server.operation.SandboxRule;
import dev.vivarium.server.operation.SendMessage;
import dev.vivarium.server.operation.ThreadSnapshots;
import dev.vivarium.server.preview.PreviewAudit;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.EngineConfig;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.Sockets;
import dev.vivarium.server.socket.SocketsHandler;
import dev.vivarium.server.telemetry.EgressAudit;
import dev.vivarium.server.telemetry.FreezeAudit;
import dev.vivarium.server.telemetry.Metrics;
import dev.vivarium.server.telemetry.Telemetry;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Composition root of the server. The constructor opens the parts from the bottom up; [#close] closes them in reverse.
/// Sandboxes outlive the server. Thread-safe.
public final class Vivarium implements AutoCloseable {
    static final InstantSource CLOCK = InstantSource.system();

    /// Limit of ended sandboxes whose end a killed server may not have written to the log.
    private static final int ENDS_TO_CATCH_UP = 256;

    /// Command output may take this much more space on disk than in memory.
    private static final int SPOOL_FACTOR = 16;

    private static final Duration RECONCILE_EVERY = Duration.ofSeconds(30);

    private final Config config;
    private final DrainGate gate = new DrainGate();
    private final Edge edge;
    private final Db db;
    private final CredentialStore credentials;
    private final Audit audit;
    private final Metrics metrics = new Metrics();
    private final Telemetry telemetry;
    private final EventLog log;
    private final Threads threads;
    private final FileHistory history;
    private final Watchers watchers;
    private final AgentRuns runs;
    private final Sandboxes sandboxes;
    private final SandboxLookup lookup;
    private final Agents agents;
    private final HealthChecks health;
    private final Sockets sockets;
    private final Router router;
    private final Undo parts;

    /// The port is first, so that nothing starts if it is in use.
    private Vivarium(Config config, Provider provider, Pages files, Undo undo) {
        this.config = config;
        var scheduler = undo.add(new Scheduler(CLOCK));
        edge = undo.add(Edge.bind(config.http(), gate, scheduler));
        db = undo.add(ownStore(config, provider));
        credentials = undo.add(CredentialStore.open(db, config, scheduler));
        audit = undo.add(new Audit(db, config.access().auditEntries()));
        telemetry = new Telemetry(metrics, new EgressAudit(audit, CLOCK));
        log = undo.add(new EventLog(db, CLOCK, new EventBodyJson()));
        var lifecycle = undo.add(new LifecycleEvents(log, scheduler));
        threads = new Threads(db, CLOCK);
        history = new FileHistory(db);
        watchers = undo.add(new Watchers(log, history, config.watch().metricsEvery(), scheduler));
        runs = AgentRuns.open(config, db, log, credentials.workers(), scheduler);
        var limits = new RateLimits(config.rates());
        sandboxes = undo.add(Sandboxes.open(provider, db, engine(config), listeners(lifecycle, limits), scheduler));
        lookup = new SandboxLookup(sandboxes, credentials.rights());
        watchers.begin(sandboxes);
        agents = undo.add(runs).start(sandboxes, credentials.workers(), config);
        health = undo.add(HealthChecks.start(db, sandboxes, gate, telemetry::poolFailure));
        var accesses = undo.add(new AccessRegistry(gate, scheduler));
        var origins = new Origins(config.access().publicUrl());
        var requests = new RequestLimits(config.http().limits().perPrincipal());
        var admission = new Admission(credentials, lookup, sandboxes.memory(), limits, requests, origins, accesses);
        sockets = undo.add(new Sockets(admission, audit, config.watch(), CLOCK, scheduler));
        var model = undo.add(model(admission, limits));
        var preview = new PreviewHandler(admission, new PreviewAudit(audit, CLOCK), config.preview(), CLOCK);
        var pages = new PagesHandler(files, config.preview());
        var routes = routes(provider, preview, pages, origins);
        router =
                new Router(routes, PreviewRoutes.hosts(preview, config.preview().domain()));
        edge.serve(routers(routes, model, pages), admission, new AccessAudit(audit, CLOCK));
        // Closed before all other parts, so that no request finds a closed part. Sockets first send their reason.
        undo.add(edge);
        undo.add(sockets);
        undo.add(new Maintenance(config.log(), log, runs.inbox(), history, scheduler));
        connect(lifecycle);
        parts = undo.keep();
    }

    private RouterSelector routers(List<Route> routes, ModelHandler model, PagesHandler pages) {
        return new RouterSelector(router, new Router(pages.routes()), new Router(InsideRoutes.of(routes, model)));
    }

    /// Starts a server with the console of the class path. Returns when the server answers requests. The server
    /// closes `provider`, also if the start fails.
    public static Vivarium start(Config config, Provider provider) {
        return start(config, provider, Pages.onClassPath());
    }

    /// Starts a server with another console.
    public static Vivarium start(Config config, Provider provider, Pages pages) {
        try (var undo = new Undo()) {
            undo.add(provider);
            return new Vivarium(config, provider, pages, undo);
        }
    }

    /// Returns the listeners of all sandboxes in the order of their calls. Tokens are revoked first.
    private List<SandboxListener> listeners(LifecycleEvents lifecycle, RateLimits limits) {
        var listeners = new ArrayList<SandboxListener>(
                List.of(credentials, telemetry, lifecycle, watchers, new FreezeAudit(audit, CLOCK)));
        listeners.addAll(runs.listeners());
        listeners.add(limits);
        return listeners;
    }

    private ModelHandler model(Admission admission, RateLimits limits) {
        var costs = new CostRecorder(runs.runs(), log, telemetry);
        return new ModelHandler(config.model(), admission, credentials.workers(), costs, limits, audit, CLOCK);
    }

    /// Returns every route. A test compares them with `openapi.json`.
    private List<Route> routes(Provider provider, PreviewHandler preview, PagesHandler pages, Origins origins) {
        var operations = operations();
        var callers = callers();
        var spool = new ByteBudget(SPOOL_FACTOR * sandboxes.memory().limit());
        var response = new CommandResponse(operations.commands(), config.home().resolve("tmp"), spool);
        var life = new RunLifeHandler(callers, operations.end(), operations.pause());
        return Stream.of(
                        new ServerRoutes(config, db, provider, sandboxes, health, metrics).all(),
                        ConsoleRoutes.of(pages, signIn(pages, origins)),
                        SessionRoutes.of(config, operations, callers, response, telemetry),
                        DataRoutes.of(operations, callers, response, config.calls(), telemetry),
                        PreviewRoutes.of(preview),
                        SnapshotRoutes.of(new SnapshotsHandler(operations.snapshots())),
                        WatchRoutes.of(new ViewHandler(operations, log, history)),
                        liveRoutes(operations, callers),
                        new RunRoutes(config, runs, agents, sandboxes, log, credentials.rights(), watchers).all(life),
                        threadRoutes(operations, callers))
                .flatMap(List::stream)
                .toList();
    }

    /// Returns the routes of threads and of their administration.
    private List<Route> threadRoutes(Operations operations, Callers known) {
        var access = config.access();
        var callers = new ThreadCallers(sandboxes, lookup);
        var admin = new AdminSandboxesHandler(sandboxes, known, operations.end(), credentials.tokens(), audit, CLOCK);
        return Stream.of(
                        new ThreadRoutes(access, credentials, audit, threads, sandboxes, callers, operations)
                                .all(new ConnectionsHandler(callers, sandboxes, sockets.presence())),
                        AdminRoutes.of(new AuditHandler(callers, audit), admin, new KeysHandler(credentials.keys())))
                .flatMap(List::stream)
                .toList();
    }

    /// Returns the routes of events and sockets.
    private List<Route> liveRoutes(Operations operations, Callers callers) {
        var feed = new Feed(log, sandboxes, credentials.rights());
        var heartbeat = config.watch().keepAlive();
        var events = new EventsHandler(log, runs.inbox(), runs.events(), sockets.presence(), CLOCK, heartbeat);
        var messages = new MessagesHandler(operations.messages(), runs.inbox(), runs.runs(), heartbeat);
        var handler = new SocketsHandler(sockets, callers, telemetry, log, operations, feed);
        return Stream.of(
                        EventRoutes.of(events, messages, new FeedHandler(feed)),
                        SocketRoutes.of(handler, new ShellsHandler(callers)))
                .flatMap(List::stream)
                .toList();
    }

    private SessionHandler signIn(PagesHandler pages, Origins origins) {
        var server = new SessionHandler.Server(Version.current(), pages.build(), config.preview());
        return new SessionHandler(credentials.sessions(), origins, audit, CLOCK, server);
    }

    private Operations operations() {
        return new Operations(
                new CreateSandbox(
                        sandboxes,
                        threads,
                        SandboxRule.of(config),
                        config.access().lease()),
                new GetSandbox(lookup),
                new EndSandbox(sandboxes, audit, CLOCK),
                new PauseSandbox(agents, runs.runs()),
                new ThreadSnapshots(sandboxes, lookup, config.access().lease()),
                new RunCommand(config.calls(), telemetry),
                new SendMessage(runs.inbox(), runs.runs()),
                new ListFiles(),
                new ReadTerminal(log));
    }

    private Callers callers() {
        return new Callers(
                sandboxes,
                lookup,
                config.calls().wakeOnTraffic() ? Callers.ResumePolicy.ON_TRAFFIC : Callers.ResumePolicy.EXPLICIT);
    }

    /// Connects the parts that need each other.
    private void connect(LifecycleEvents lifecycle) {
        // PostgreSQL keeps its data elsewhere.
        if (db.name().equals("sqlite")) {
            db.reserve(config.disk().storeReserveBytes());
            var space = sandboxes.diskSpace();
            log.refuseWhen(() -> space.requireWritable("append an event"));
        }
        sandboxes.controlPorts().setHandler(edge.controlPortHandler());
        metrics.watch(sandboxes::pool);
        metrics.watchDisk(sandboxes.diskSpace()::reading);
        metrics.watchAudit(audit::dropped);
        metrics.watchMemory(sandboxes.memory());
        lifecycle.catchUp(() -> sandboxes.newestEnded(Optional.empty(), ENDS_TO_CATCH_UP));
    }

    /// Opens the store, if everything in the home belongs to it.
    private static Db ownStore(Config config, Provider provider) {
        var check = new HomeCheck(provider);
        return config.store()
                .map(address -> check.checked(Db.postgres(address)))
                .orElseGet(() -> check.openStore(database(config)));
    }

    /// Opens the configured database, or else the one in the home.
    static Db store(Config config) {
        return config.store().map(Db::postgres).orElseGet(() -> Db.sqlite(database(config)));
    }

    private static Path database(Config config) {
        return config.home().resolve("vivarium.db");
    }

    public URI uri() {
        return edge.uri();
    }

    public List<Route> routes() {
        return router.routes();
    }

    public Sandboxes sandboxes() {
        return sandboxes;
    }

    /// Returns the capability tokens.
    public Tokens tokens() {
        return credentials.tokens();
    }

    /// Returns the tokens of the processes inside sandboxes.
    public WorkerTokens workers() {
        return credentials.workers();
    }

    /// Refuses new requests, waits up to `grace` for the current ones, and closes the server.
    public void stop(Duration grace) {
        sockets.close();
        edge.stop(grace);
        close();
    }

    /// Closes all parts at once. A part that fails to close is logged, and the others still close. Sandboxes keep
    /// running. Idempotent.
    @Override
    public void close() {
        parts.close();
    }

    private static SandboxesConfig engine(Config all) {
        EngineConfig config = all.engine();
        var capacity = config.capacity();
        return new SandboxesConfig(
                new SandboxesConfig.Room(
                        capacity.poolSize(), capacity.maxSandboxes(), capacity.maxCommandsPerSandbox()),
                new SandboxesConfig.Times(
                        config.lifetime().idleTimeout(),
                        config.lifetime().maxLifetime(),
                        RECONCILE_EVERY,
                        all.log().retention().age(),
                        config.lifetime().orphanGrace(),
                        config.lifetime().keepOrphans()),
                config.limits(),
                config.image(),
                all.egress(),
                Optional.of(all.disk().of(all.home())),
                capacity.maxBytesInFlight().orElseGet(ByteBudget::quarterOfHeap));
    }
}
