package dev.vivarium.server;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.Undo;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.Keys;
import dev.vivarium.core.access.Members;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.lifecycle.LifecycleEvents;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.HomeCheck;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.sandbox.SandboxesConfig;
import dev.vivarium.core.store.Db;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.server.api.HealthChecks;
import dev.vivarium.server.console.Pages;
import dev.vivarium.server.http.AccessAudit;
import dev.vivarium.server.http.AccessRegistry;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.DrainGate;
import dev.vivarium.server.http.Edge;
import dev.vivarium.server.http.RateLimits;
import dev.vivarium.server.http.RequestLimits;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.http.Router;
import dev.vivarium.server.http.RouterSelector;
import dev.vivarium.server.model.ModelHandler;
import dev.vivarium.server.preview.PreviewAudit;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.EngineConfig;
import dev.vivarium.server.socket.Sockets;
import dev.vivarium.server.telemetry.EgressAudit;
import dev.vivarium.server.telemetry.FreezeAudit;
import dev.vivarium.server.telemetry.Metrics;
import dev.vivarium.server.telemetry.Telemetry;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// One running server: the store, the engine and the HTTP edge in front of them. Sandboxes outlive it. Thread-safe.
public final class Vivarium implements AutoCloseable {
    private static final InstantSource CLOCK = InstantSource.system();
    /// More than can be ending at the moment when a server is killed.
    private static final int ENDS_TOLD_LATE = 256;

    private static final Duration RECONCILE_EVERY = Duration.ofSeconds(30);

    private final Routes.Parts parts;
    private final Router router;
    private final ModelHandler model;
    private final Edge edge;
    private final AccessRegistry accesses;
    private final LifecycleEvents lifecycleEvents;
    private final Maintenance maintenance;

    private Vivarium(
            Routes.Parts parts,
            Router router,
            ModelHandler model,
            Edge edge,
            AccessRegistry accesses,
            LifecycleEvents lifecycleEvents,
            Maintenance maintenance) {
        this.parts = parts;
        this.router = router;
        this.model = model;
        this.edge = edge;
        this.accesses = accesses;
        this.lifecycleEvents = lifecycleEvents;
        this.maintenance = maintenance;
        keepSpaceForTheStore(parts);
        parts.sandboxes().controlPorts().staff(edge.controlPortHandler());
        watch(parts.metrics(), parts.sandboxes(), parts.access().audit());
        lifecycleEvents.catchUp(() -> parts.sandboxes().newestEnded(Optional.empty(), ENDS_TOLD_LATE));
    }

    /// Binds the port, so that nothing is started in vain; then starts everything, from the bottom up. Returns when
    /// the server answers. The provider is the server's from here on.
    public static Vivarium start(Config config, Provider provider) {
        return start(config, provider, Pages.onClassPath());
    }

    /// The same with another console than that of the class path.
    public static Vivarium start(Config config, Provider provider, Pages pages) {
        try (var undo = new Undo()) {
            undo.add(provider::close);
            var server = open(config, provider, pages, undo);
            undo.keep();
            return server;
        }
    }

    private static Vivarium open(Config config, Provider provider, Pages pages, Undo undo) {
        var gate = new DrainGate();
        var edge = undo.add(Edge.bind(config.http(), gate));
        var db = undo.add(ownStore(config, provider));
        var keys = Keys.open(db, config.home(), config.apiKey(), CLOCK);
        var metrics = new Metrics();
        var access = access(config, db, CLOCK, undo);
        var telemetry = new Telemetry(metrics, new EgressAudit(access.audit(), CLOCK));
        var log = undo.add(new EventLog(db, CLOCK, new EventBodyJson()));
        var lifecycle = undo.add(new LifecycleEvents(log));
        var sight = undo.add(WatchRoutes.Sight.open(db, log, config.watch(), CLOCK));
        var limits = new RateLimits(config.rates());
        var runEngine = new RunRoutes.Engine(config.home(), db, log, CLOCK);
        var runs = RunRoutes.Supervision.of(runEngine, config.runs(), access.workers());
        var listeners = listeners(access, records(telemetry, lifecycle, sight, access.audit(), CLOCK), runs, limits);
        var sandboxes = undo.add(Sandboxes.open(provider, db, engine(config), listeners, CLOCK));
        sight.watching().begin(sandboxes);
        var inbox = runs.inbox();
        var agency = undo.add(runs.start(runEngine, sandboxes));
        var health = undo.add(HealthChecks.start(db, sandboxes, gate, telemetry::poolTrouble));
        var front = ConsoleRoutes.Front.open(db, keys, pages, config, CLOCK);
        var accesses = undo.add(new AccessRegistry(gate, CLOCK));
        var bounds = new Admission.Bounds(limits, requests(config));
        var proofs = proofs(keys, front, access, accesses);
        var admission = new Admission(proofs, access.rights(), sandboxes, bounds, front.origins(), accesses);
        var preview = preview(admission, access, config);
        var sockets = undo.add(new Sockets(admission, config.watch()));
        var parts = new Routes.Parts(
                config, db, log, inbox, agency, sight, provider, sandboxes, health, keys, front, access, telemetry,
                metrics, preview, sockets, limits);
        var router = new Router(Routes.of(parts, CLOCK), Routes.hosts(preview, config.preview()));
        var model = undo.add(InsideRoutes.model(parts, admission, CLOCK));
        edge.serve(routers(router, front, model), admission, witness(access, CLOCK));
        var maintenance = undo.add(new Maintenance(config.log(), log, inbox, sight.history(), CLOCK));
        return new Vivarium(parts, router, model, edge, accesses, lifecycle, maintenance);
    }

    private static PreviewHandler preview(Admission admission, ThreadRoutes.Access access, Config config) {
        return new PreviewHandler(admission, new PreviewAudit(access.audit(), CLOCK), config.preview(), CLOCK);
    }

    /// The listeners of all sandboxes, in the order of their calls. Tokens are revoked first.
    private static List<SandboxListener> listeners(
            ThreadRoutes.Access access, List<SandboxListener> records, RunRoutes.Supervision runs, RateLimits limits) {
        return Stream.of(List.of(access), records, runs.listeners(), List.of(limits))
                .<SandboxListener>flatMap(List::stream)
                .toList();
    }

    /// The listeners that record what happens: metrics, event log, file history, audit.
    private static List<SandboxListener> records(
            Telemetry telemetry,
            LifecycleEvents lifecycleEvents,
            WatchRoutes.Sight sight,
            Audit audit,
            InstantSource clock) {
        return List.of(telemetry, lifecycleEvents, sight.watching(), new FreezeAudit(audit, clock));
    }

    private static void watch(Metrics metrics, Sandboxes sandboxes, Audit audit) {
        metrics.watch(sandboxes::pool);
        metrics.watchDisk(sandboxes.diskSpace()::reading);
        metrics.watchAudit(audit::dropped);
        metrics.watchMemory(sandboxes.memory());
    }

    /// Gives SQLite space of its own, and keeps that for what is essential. PostgreSQL keeps its data elsewhere.
    private static void keepSpaceForTheStore(Routes.Parts parts) {
        if (parts.db().name().equals("sqlite")) {
            parts.db().reserve(parts.config().disk().storeReserveBytes());
            var space = parts.sandboxes().diskSpace();
            parts.log().refuseWhen(() -> space.requireWritable("append an event"));
        }
    }

    private static RouterSelector routers(Router outside, ConsoleRoutes.Front front, ModelHandler model) {
        var inside = new Router(InsideRoutes.of(outside.routes(), model));
        return new RouterSelector(outside, new Router(front.pages().routes()), inside);
    }

    private static AccessAudit witness(ThreadRoutes.Access access, InstantSource clock) {
        return new AccessAudit(access.audit(), clock);
    }

    private static RequestLimits requests(Config config) {
        return new RequestLimits(config.http().limits().perPrincipal());
    }

    /// Everything that can give a right, and from which `accesses` learns when a right is lost.
    private static Admission.Proofs proofs(
            Keys keys, ConsoleRoutes.Front front, ThreadRoutes.Access access, AccessRegistry accesses) {
        Stream.of(
                        keys.changes(),
                        front.sessions().changes(),
                        access.tokens().changes(),
                        access.workers().changes(),
                        access.members().changes())
                .forEach(changes -> changes.listen(accesses::changed));
        return new Admission.Proofs(keys, front.sessions(), access.tokens(), access.workers());
    }

    private static ThreadRoutes.Access access(Config config, Db db, InstantSource clock, Undo undo) {
        var tokens = undo.add(Tokens.open(db, config.home(), config.access().tokenMode(), clock));
        var members = new Members(db, clock);
        var rights = new Rights(members, config.access().scopes());
        var audit = undo.add(new Audit(db, config.access().auditEntries()));
        var workers = WorkerTokens.open(db, config.home(), clock);
        return new ThreadRoutes.Access(
                config.access(), tokens, workers, members, new Threads(db, clock), rights, audit);
    }

    /// The store, if everything in the home belongs to it.
    private static Db ownStore(Config config, Provider provider) {
        var check = new HomeCheck(provider);
        return config.store()
                .map(address -> check.checked(Db.postgres(address)))
                .orElseGet(() -> check.openStore(database(config)));
    }

    /// Opens the database that was chosen, or that of the home.
    static Db store(Config config) {
        return config.store().map(Db::postgres).orElseGet(() -> Db.sqlite(database(config)));
    }

    private static Path database(Config config) {
        return config.home().resolve("vivarium.db");
    }

    /// Where it answers.
    public URI uri() {
        return edge.uri();
    }

    /// What it answers to.
    public List<Route> routes() {
        return router.routes();
    }

    /// The engine behind it.
    public Sandboxes sandboxes() {
        return parts.sandboxes();
    }

    /// The tokens it takes.
    public Tokens tokens() {
        return parts.access().tokens();
    }

    /// The tokens of the processes inside sandboxes.
    public WorkerTokens workers() {
        return parts.access().workers();
    }

    /// Takes no new work, gives what runs up to `grace`, and lets the sandboxes go on without a server.
    public void stop(Duration grace) {
        parts.sockets().close();
        edge.stop(grace);
        close();
    }

    /// Stops at once, from the top down. Sandboxes go on. Idempotent.
    @Override
    public void close() {
        parts.sockets().close();
        edge.close();
        accesses.close();
        parts.health().close();
        parts.agency().close();
        maintenance.close();
        model.close();
        parts.sandboxes().close();
        parts.sight().close();
        lifecycleEvents.close();
        parts.provider().close();
        parts.access().tokens().close();
        parts.access().audit().close();
        parts.log().close();
        parts.db().close();
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
