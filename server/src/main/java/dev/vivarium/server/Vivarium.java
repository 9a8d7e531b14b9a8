package dev.vivarium.server;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.Undo;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.IdempotencyKeys;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.guard.liveness.Liveness;
import dev.vivarium.core.guard.trajectory.GuardianActions;
import dev.vivarium.core.lifecycle.LifecycleEvents;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.sandbox.HomeCheck;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.task.AttemptRunner;
import dev.vivarium.core.task.Orchestrator;
import dev.vivarium.core.watch.FileHistory;
import dev.vivarium.core.watch.ProcessEvents;
import dev.vivarium.core.watch.Watchers;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.json.MaskingCodec;
import dev.vivarium.server.access.SandboxLookup;
import dev.vivarium.server.api.AdminSandboxesHandler;
import dev.vivarium.server.api.AgentSupport;
import dev.vivarium.server.api.AlertsHandler;
import dev.vivarium.server.api.AllReviewsHandler;
import dev.vivarium.server.api.AuditHandler;
import dev.vivarium.server.api.CleanupHandler;
import dev.vivarium.server.api.CommandResponse;
import dev.vivarium.server.api.ConnectionsHandler;
import dev.vivarium.server.api.CreateSessionHandler;
import dev.vivarium.server.api.DownloadFileHandler;
import dev.vivarium.server.api.EgressHandler;
import dev.vivarium.server.api.Endpoints;
import dev.vivarium.server.api.EventsHandler;
import dev.vivarium.server.api.ExecHandler;
import dev.vivarium.server.api.ExecuteHandler;
import dev.vivarium.server.api.FeedHandler;
import dev.vivarium.server.api.ForensicsHandler;
import dev.vivarium.server.api.GetSessionHandler;
import dev.vivarium.server.api.GitHandler;
import dev.vivarium.server.api.GitRunsHandler;
import dev.vivarium.server.api.HealthChecks;
import dev.vivarium.server.api.HealthHandler;
import dev.vivarium.server.api.KeysHandler;
import dev.vivarium.server.api.ListFilesHandler;
import dev.vivarium.server.api.ListSandboxesHandler;
import dev.vivarium.server.api.ListThreadsHandler;
import dev.vivarium.server.api.MembersHandler;
import dev.vivarium.server.api.MessagesHandler;
import dev.vivarium.server.api.MetricsHandler;
import dev.vivarium.server.api.NegotiateHandler;
import dev.vivarium.server.api.NodeHandler;
import dev.vivarium.server.api.OpenApiHandler;
import dev.vivarium.server.api.PauseHandler;
import dev.vivarium.server.api.ProcessesHandler;
import dev.vivarium.server.api.QuotasHandler;
import dev.vivarium.server.api.ReadFileHandler;
import dev.vivarium.server.api.RefreshHandler;
import dev.vivarium.server.api.ReviewsHandler;
import dev.vivarium.server.api.RevokeHandler;
import dev.vivarium.server.api.RunHistoryHandler;
import dev.vivarium.server.api.RunsHandler;
import dev.vivarium.server.api.SandboxLifecycleHandler;
import dev.vivarium.server.api.SandboxResolver;
import dev.vivarium.server.api.SnapshotsHandler;
import dev.vivarium.server.api.SpawnHandler;
import dev.vivarium.server.api.TaskClaimsHandler;
import dev.vivarium.server.api.TasksHandler;
import dev.vivarium.server.api.ThreadHandler;
import dev.vivarium.server.api.ThreadResolver;
import dev.vivarium.server.api.TokenResponse;
import dev.vivarium.server.api.UploadFileHandler;
import dev.vivarium.server.api.ViewHandler;
import dev.vivarium.server.api.WebhooksHandler;
import dev.vivarium.server.api.WelcomeHandler;
import dev.vivarium.server.api.WorkerEvents;
import dev.vivarium.server.api.WorkerHandler;
import dev.vivarium.server.api.WriteFileHandler;
import dev.vivarium.server.console.Pages;
import dev.vivarium.server.console.PagesHandler;
import dev.vivarium.server.console.SessionHandler;
import dev.vivarium.server.feed.Feed;
import dev.vivarium.server.git.GitRelayHandler;
import dev.vivarium.server.http.AccessAudit;
import dev.vivarium.server.http.AccessRegistry;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.CallLimits;
import dev.vivarium.server.http.CredentialStore;
import dev.vivarium.server.http.DrainGate;
import dev.vivarium.server.http.Edge;
import dev.vivarium.server.http.FailureDelays;
import dev.vivarium.server.http.Idempotency;
import dev.vivarium.server.http.Origins;
import dev.vivarium.server.http.RateLimits;
import dev.vivarium.server.http.RequestLimits;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.http.Router;
import dev.vivarium.server.http.RouterSelector;
import dev.vivarium.server.model.CostRecorder;
import dev.vivarium.server.model.ModelHandler;
import dev.vivarium.server.operation.CancelRun;
import dev.vivarium.server.operation.CreateSandbox;
import dev.vivarium.server.operation.EndSandbox;
import dev.vivarium.server.operation.GetRun;
import dev.vivarium.server.operation.GetSandbox;
import dev.vivarium.server.operation.GitWork;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.operation.PauseSandbox;
import dev.vivarium.server.operation.ReadTerminal;
import dev.vivarium.server.operation.RunCommand;
import dev.vivarium.server.operation.RunForensics;
import dev.vivarium.server.operation.RunHistory;
import dev.vivarium.server.operation.SandboxRule;
import dev.vivarium.server.operation.SendMessage;
import dev.vivarium.server.operation.StartRun;
import dev.vivarium.server.operation.ThreadSnapshots;
import dev.vivarium.server.operation.UserAlerts;
import dev.vivarium.server.operation.UserTasks;
import dev.vivarium.server.operation.UserWebhooks;
import dev.vivarium.server.preview.PreviewAudit;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.socket.ShellsHandler;
import dev.vivarium.server.socket.Sockets;
import dev.vivarium.server.socket.SocketsHandler;
import dev.vivarium.server.telemetry.EgressAudit;
import dev.vivarium.server.telemetry.FreezeAudit;
import dev.vivarium.server.telemetry.Host;
import dev.vivarium.server.telemetry.Metrics;
import dev.vivarium.server.telemetry.ReviewAudit;
import dev.vivarium.server.telemetry.Telemetry;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Composition root of the server. The constructor opens the parts from the bottom up; [#close] closes them in reverse.
/// Sandboxes outlive the server. Thread-safe.
public final class Vivarium implements AutoCloseable {
    static final InstantSource CLOCK = InstantSource.system();

    /// Limit of ended sandboxes whose end a killed server may not have written to the log.
    private static final int ENDS_TO_CATCH_UP = 256;

    private static final Duration SAVE_KEY_USES = Duration.ofMinutes(1);

    /// Command output may take this much more space on disk than in memory.
    private static final int SPOOL_FACTOR = 16;

    private final Config config;
    private final Provider provider;
    private final Pages files;
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
    private final ProcessEvents processEvents;
    private final AgentRuns runs;
    private final GitHosting git;
    private final RateLimits limits;
    private final Sandboxes sandboxes;
    private final SandboxLookup lookup;
    private final Agents agents;
    private final Notifications notifications;
    private final Liveness liveness;
    private final HealthChecks health;
    private final Origins origins;
    private final Admission admission;
    private final Sockets sockets;
    private final Router router;
    private final Undo parts;

    /// The port is first, so that nothing starts if it is in use.
    private Vivarium(Config config, Provider provider, Pages files, Undo undo) {
        this.config = config;
        this.provider = provider;
        this.files = files;
        var scheduler = undo.add(new Scheduler(CLOCK));
        edge = undo.add(Edge.bind(config.http(), gate, scheduler));
        db = undo.add(ownStore(config, provider));
        credentials = undo.add(CredentialStore.open(db, config, scheduler));
        undo.add(scheduler.jobs().every(SAVE_KEY_USES, "last uses of API keys", credentials.keys()::saveUses));
        audit = undo.add(new Audit(db, config.access().auditEntries()));
        telemetry = new Telemetry(metrics, new EgressAudit(audit, CLOCK));
        log = undo.add(new EventLog(db, CLOCK, new MaskingCodec(new EventBodyJson(), credentials.workers()::mask)));
        var events = undo.add(new LifecycleEvents(log, scheduler));
        threads = new Threads(db, CLOCK);
        history = new FileHistory(db, credentials.workers()::mask);
        watchers = undo.add(new Watchers(log, history, config.watch().metricsEvery(), scheduler));
        processEvents = undo.add(processEvents(scheduler));
        runs = AgentRuns.open(config, db, log, credentials.workers(), scheduler);
        git = undo.add(GitHosting.open(config, db, log, runs, scheduler));
        limits = new RateLimits(config.rates());
        sandboxes = undo.add(Sandboxes.open(provider, db, config.engine().sandboxes(), listeners(events), scheduler));
        lookup = new SandboxLookup(sandboxes, credentials.rights());
        watchers.begin(sandboxes);
        agents = undo.add(runs).start(sandboxes, credentials.workers(), config, git.workspaces());
        var feed = new Feed(log, sandboxes, credentials.rights());
        notifications = undo.add(Notifications.open(config, db, runs, feed, scheduler));
        liveness = liveness(scheduler);
        health = undo.add(HealthChecks.start(db, sandboxes, gate, telemetry::poolFailure));
        health.watch(notifications.health()::last);
        var accesses = undo.add(new AccessRegistry(gate, scheduler));
        origins = new Origins(config.access().publicUrl());
        admission = new Admission(credentials, lookup, sandboxes.memory(), callLimits(), origins, accesses);
        sockets = undo.add(new Sockets(admission, audit, config.watch(), CLOCK, scheduler));
        var handlers = new Handlers();
        router = router(handlers);
        serve(handlers, undo, scheduler);
        connect(events);
        startJobs(undo, scheduler);
        parts = undo.keep();
    }

    private void serve(Handlers handlers, Undo undo, Scheduler scheduler) {
        var model = undo.add(model());
        var idempotency = new Idempotency(undo.add(IdempotencyKeys.open(db, config.home(), scheduler)));
        var routers = routers(handlers, model, git.relay(audit, scheduler));
        edge.serve(routers, admission, new AccessAudit(audit, CLOCK), idempotency);
        // Closed before all other parts, so that no request finds a closed part. Sockets first send their reason.
        undo.add(edge);
        undo.add(sockets);
    }

    private Liveness liveness(Scheduler scheduler) {
        var platform = new Liveness.Platform(
                db, log, audit, runs.runs(), agents, sandboxes, runs.restarts(), git.repositories());
        return runs.liveness(platform, config, credentials.workers()::mask, scheduler);
    }

    private ProcessEvents processEvents(Scheduler scheduler) {
        var events = new ProcessEvents(log, scheduler);
        if (config.watch().processEvents()) {
            provider.reportProcesses(events);
        }
        return events;
    }

    /// Starts the parts that act by themselves. They are closed first.
    private void startJobs(Undo undo, Scheduler scheduler) {
        undo.add(new Maintenance(config.log(), log, runs.inbox(), history, scheduler));
        var actions =
                new GuardianActions(GuardianActions.RunControl.of(agents), runs.inbox(), runs.reviews(), audit, CLOCK);
        undo.add(RunGuards.start(config, db, log, runs, actions, scheduler));
        var runner = new AttemptRunner(
                agents, liveness.continuations(), sandboxes, audit, CLOCK, git.repositories()::isNeeded);
        Orchestrator orchestrator = undo.add(runs.orchestrator(runner, db, config, CLOCK));
        orchestrator.start(log);
        undo.add(runs.diagnosis(db, log, audit, config, scheduler)).start();
        undo.add(git.deliver(sandboxes, audit, scheduler));
        notifications.start(log, audit);
        runs.reviews().onTimeout(new ReviewAudit(audit, sandboxes::ownerOf, CLOCK));
        undo.add(liveness).start();
    }

    private Router router(Handlers handlers) {
        return new Router(
                Routes.of(handlers),
                Routes.hosts(handlers.preview, config.preview().domain()));
    }

    private RouterSelector routers(Handlers handlers, ModelHandler model, GitRelayHandler relay) {
        var inside = new Router(Routes.inside(router.routes(), model, relay));
        return new RouterSelector(router, new Router(handlers.pages.routes()), inside);
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
    private List<SandboxListener> listeners(LifecycleEvents lifecycle) {
        var listeners = new ArrayList<SandboxListener>(
                List.of(credentials, telemetry, lifecycle, watchers, processEvents, new FreezeAudit(audit, CLOCK)));
        listeners.addAll(runs.listeners());
        listeners.add(limits);
        return listeners;
    }

    private CallLimits callLimits() {
        var http = config.http().limits();
        return new CallLimits(
                limits,
                new RequestLimits(http.perPrincipal()),
                new FailureDelays(http.failureDelay(), System::nanoTime));
    }

    private ModelHandler model() {
        var costs = new CostRecorder(runs.runs(), log, telemetry);
        return new ModelHandler(config.model(), admission, credentials.workers(), costs, limits, audit, CLOCK);
    }

    /// Handlers of the API. [Routes] selects one for each route.
    final class Handlers {
        private final Operations operations = operations();
        private final SandboxResolver resolver = resolver();
        private final ThreadResolver threadResolver = new ThreadResolver(lookup);
        private final Endpoints endpoints = new Endpoints(config.access().publicUrl());
        private final TokenResponse tokens = new TokenResponse(endpoints, audit);
        private final Feed visibleEvents = new Feed(log, sandboxes, credentials.rights());
        private final Path temporary = config.home().resolve("tmp");
        private final CommandResponse response = new CommandResponse(
                operations.commands(),
                temporary,
                new ByteBudget(SPOOL_FACTOR * sandboxes.memory().limit()));
        private final HealthHandler.Node self = new HealthHandler.Node(
                config.workerId(),
                Version.current(),
                config.engine().sandboxes().image(),
                db.name());

        final PagesHandler pages = new PagesHandler(files, config.preview());
        final WelcomeHandler welcome = new WelcomeHandler(pages);
        final HealthHandler healthReport = new HealthHandler(self, sandboxes, provider, health, CLOCK);
        final NodeHandler node = new NodeHandler(
                self,
                health,
                sandboxes,
                provider,
                SandboxRule.of(config),
                new AgentSupport(provider, config.runs().image(), config.model()),
                new Host(config.home()));
        final QuotasHandler quotas = new QuotasHandler(sandboxes.quotas(), runs.runs());
        final OpenApiHandler openApi = new OpenApiHandler();
        final MetricsHandler metricsText = new MetricsHandler(metrics);
        final SessionHandler session = new SessionHandler(
                credentials.sessions(),
                origins,
                audit,
                CLOCK,
                new SessionHandler.Server(Version.current(), pages.build(), config.preview()));

        final CreateSessionHandler createSession = new CreateSessionHandler(operations.create());
        final GetSessionHandler getSession = new GetSessionHandler(operations.get());
        final ExecuteHandler execute = new ExecuteHandler(resolver, response);
        final UploadFileHandler uploadFile =
                new UploadFileHandler(resolver, config.calls().uploads(), telemetry, temporary);
        final DownloadFileHandler downloadFile = new DownloadFileHandler(resolver, telemetry);
        final ListFilesHandler listFiles = new ListFilesHandler(resolver);
        final CleanupHandler cleanup = new CleanupHandler(operations.end(), resolver);

        final PreviewHandler preview =
                new PreviewHandler(admission, new PreviewAudit(audit, CLOCK), config.preview(), CLOCK);
        final ReadFileHandler readFile = new ReadFileHandler(resolver, telemetry);
        final WriteFileHandler writeFile =
                new WriteFileHandler(resolver, config.calls().uploads(), telemetry);
        final ViewHandler view = new ViewHandler(operations, log, history);
        final ExecHandler exec = new ExecHandler(resolver, operations.commands(), response);
        final ProcessesHandler processes = new ProcessesHandler(resolver);
        final PauseHandler pause = new PauseHandler(operations.pause());
        final SnapshotsHandler snapshots = new SnapshotsHandler(operations.snapshots(), threadResolver);

        final ListThreadsHandler listThreads = new ListThreadsHandler(threads, sandboxes);
        final ThreadHandler thread = new ThreadHandler(
                sandboxes, threadResolver, threads, credentials.members(), endpoints, operations.end());
        final NegotiateHandler negotiate =
                new NegotiateHandler(operations.create(), threadResolver, credentials.tokens(), tokens);
        final RefreshHandler refresh = new RefreshHandler(threadResolver, credentials.tokens(), tokens, CLOCK);
        final RevokeHandler revoke = new RevokeHandler(threadResolver, credentials.tokens(), audit, CLOCK);
        final MembersHandler members = new MembersHandler(threadResolver, credentials.members(), audit, CLOCK);
        final ConnectionsHandler connections = new ConnectionsHandler(threadResolver, sandboxes, sockets.presence());
        final EgressHandler egress = new EgressHandler(sandboxes, threadResolver, audit, CLOCK);
        final AuditHandler auditEntries = new AuditHandler(threadResolver, audit);
        final AdminSandboxesHandler adminSandboxes =
                new AdminSandboxesHandler(sandboxes, resolver, operations.end(), credentials.tokens(), audit, CLOCK);
        final KeysHandler keys = new KeysHandler(credentials.keys());

        final EventsHandler events = new EventsHandler(
                log,
                runs.inbox(),
                new WorkerEvents(log, runs.runs(), runs.events(), processEvents),
                sockets.presence(),
                CLOCK,
                config.watch().keepAlive());
        final MessagesHandler messages = new MessagesHandler(
                operations.messages(),
                runs.inbox(),
                runs.runs(),
                limits,
                config.watch().keepAlive());
        final FeedHandler feed = new FeedHandler(visibleEvents);
        final SocketsHandler socketUpgrades =
                new SocketsHandler(sockets, resolver, telemetry, log, operations, visibleEvents);
        final ShellsHandler shells = new ShellsHandler(resolver);

        final SpawnHandler spawn = new SpawnHandler(operations.startRun(), endpoints);
        final ListSandboxesHandler listSandboxes = new ListSandboxesHandler(
                sandboxes, runs.runs(), runs.tasks(), runs.reviews(), credentials.rights(), watchers, endpoints);
        final RunsHandler runDetails = new RunsHandler(operations.getRun(), endpoints);
        final SandboxLifecycleHandler sandboxLifecycle =
                new SandboxLifecycleHandler(resolver, operations.end(), operations.pause());
        private final RunHistory runRecords =
                new RunHistory(sandboxes, runs.runs(), runs.tasks(), log, credentials.rights());
        final RunHistoryHandler runHistory =
                new RunHistoryHandler(runRecords, new CancelRun(runRecords, agents, audit, CLOCK));
        final ForensicsHandler forensics = new ForensicsHandler(new RunForensics(runRecords, liveness.forensics()));
        private final GitWork gitWork = git.work(runRecords, sandboxes);
        final GitHandler gitHost = new GitHandler(gitWork);
        final GitRunsHandler gitRuns = new GitRunsHandler(gitWork);
        final WorkerHandler worker = new WorkerHandler(
                runs.tasks(),
                runs.queue(),
                runs.runs(),
                runs.reviews(),
                runs.idempotencyRecords(),
                log,
                credentials.workers()::mask);
        private final UserTasks userTasks = new UserTasks(runs.queue(), operations.startRun(), sandboxes.snapshots());
        final TasksHandler tasks =
                new TasksHandler(userTasks, log, SandboxRule.of(config).limits());
        final TaskClaimsHandler taskClaims = new TaskClaimsHandler(userTasks);
        final ReviewsHandler reviews =
                new ReviewsHandler(runs.reviews(), runs.runs(), runs.tasks(), runs.idempotencyRecords(), CLOCK);
        final AllReviewsHandler allReviews = new AllReviewsHandler(runs.reviews(), credentials.rights());
        final WebhooksHandler webhooks = new WebhooksHandler(new UserWebhooks(notifications.webhooks()));
        final AlertsHandler alerts = new AlertsHandler(new UserAlerts(notifications.alerts()));
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
                new StartRun(agents, runs.tasks(), SandboxRule.of(config), git.credentials()),
                new GetRun(sandboxes, runs.runs(), runs.tasks(), log),
                new ThreadSnapshots(sandboxes, lookup, config.access().lease()),
                new RunCommand(config.calls(), telemetry),
                new SendMessage(runs.inbox(), runs.runs()),
                new ListFiles(),
                new ReadTerminal(log));
    }

    private SandboxResolver resolver() {
        return new SandboxResolver(
                sandboxes,
                lookup,
                config.calls().wakeOnTraffic()
                        ? SandboxResolver.ResumePolicy.ON_TRAFFIC
                        : SandboxResolver.ResumePolicy.EXPLICIT);
    }

    /// Connects the parts that need each other.
    private void connect(LifecycleEvents lifecycle) {
        // PostgreSQL keeps its data elsewhere.
        if (db.name().equals("sqlite")) {
            db.reserve(config.engine().storeReserveBytes());
            var space = sandboxes.diskSpace();
            log.refuseWhen(() -> space.requireWritable("append an event"));
        }
        sandboxes.controlPorts().setHandler(edge.controlPortHandler());
        metrics.watch(
                sandboxes::pool,
                sandboxes.diskSpace()::reading,
                audit::dropped,
                sandboxes.memory(),
                watchers::averageDiskBytes);
        lifecycle.catchUp(() -> sandboxes.newestEnded(Optional.empty(), ENDS_TO_CATCH_UP));
    }

    /// Opens the store, if everything in the home belongs to it.
    private static Db ownStore(Config config, Provider provider) {
        var check = new HomeCheck(provider);
        return config.store()
                .map(address -> check.checked(Db.postgres(address, config.home())))
                .orElseGet(() -> check.openStore(database(config)));
    }

    /// Opens the configured database, or else the one in the home.
    static Db store(Config config) {
        return config.store()
                .map(address -> Db.postgres(address, config.home()))
                .orElseGet(() -> Db.sqlite(database(config)));
    }

    private static Path database(Config config) {
        return config.home().resolve("vivarium.db");
    }

    public URI uri() {
        return edge.uri();
    }

    /// Returns a link that opens the console once, signed in as the admin. Nothing without a console.
    public Optional<String> adminLink() {
        if (!files.hasConsole()) {
            return Optional.empty();
        }
        String base = config.access().publicUrl().map(URI::toString).orElseGet(() -> localAddress(uri()));
        return Optional.of(base + SessionHandler.link(credentials.sessions().issueAdminCode(), ""));
    }

    /// Returns the address for clients on this machine. A server that listens on all addresses has no own one.
    static String localAddress(URI uri) {
        boolean isAny = List.of("0.0.0.0", "[::]", "[0:0:0:0:0:0:0:0]").contains(uri.getHost());
        return isAny ? uri.getScheme() + "://127.0.0.1:" + uri.getPort() : uri.toString();
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
}
