package dev.vivarium.server;

import dev.vivarium.core.Undo;
import dev.vivarium.core.access.Keys;
import dev.vivarium.core.access.Members;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.sandbox.SandboxesConfig;
import dev.vivarium.core.store.Db;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Edge;
import dev.vivarium.server.http.Gate;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.http.Router;
import dev.vivarium.server.preview.PreviewHandler;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.EngineConfig;
import dev.vivarium.server.telemetry.Metrics;
import dev.vivarium.server.telemetry.Telemetry;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

/// One running server: the store, the engine and the HTTP edge in front of them. Sandboxes outlive it. Thread-safe.
public final class Vivarium implements AutoCloseable {
    private static final Duration RECONCILE_EVERY = Duration.ofSeconds(30);

    private final Db db;
    private final Provider provider;
    private final Sandboxes sandboxes;
    private final Tokens tokens;
    private final Router router;
    private final Edge edge;

    private Vivarium(Db db, Provider provider, Sandboxes sandboxes, Tokens tokens, Router router, Edge edge) {
        this.db = db;
        this.provider = provider;
        this.sandboxes = sandboxes;
        this.tokens = tokens;
        this.router = router;
        this.edge = edge;
    }

    /// Starts everything, from the bottom up, and returns when the server answers. The provider is the server's
    /// from here on.
    public static Vivarium start(Config config, Provider provider) {
        try (var undo = new Undo()) {
            undo.add(provider::close);
            var clock = InstantSource.system();
            var db = undo.add(Db.sqlite(database(config.home())));
            var keys = Keys.open(db, config.home(), config.apiKey(), clock);
            var metrics = new Metrics();
            var telemetry = new Telemetry(metrics);
            var tokens = Tokens.open(db, config.home(), clock);
            var members = new Members(db, clock);
            var sandboxes = undo.add(Sandboxes.open(provider, db, engine(config.engine()), telemetry, clock));
            sandboxes.whenEnded(tokens::forget);
            var gate = new Gate();
            var admission = new Admission(keys, tokens, new Rights(members, Scopes.ALL), sandboxes);
            var preview = new PreviewHandler(admission, config.preview(), clock);
            var parts = new Routes.Parts(config, db, provider, sandboxes, keys, telemetry, metrics, preview);
            var router = new Router(Routes.of(parts, gate, clock), Routes.hosts(preview, config.preview()));
            var edge = undo.add(Edge.start(config.http(), router, admission, gate));
            metrics.watch(sandboxes::pool);
            undo.keep();
            return new Vivarium(db, provider, sandboxes, tokens, router, edge);
        }
    }

    /// The database of a home.
    static Path database(Path home) {
        return home.resolve("vivarium.db");
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
        return sandboxes;
    }

    /// The tokens it takes.
    public Tokens tokens() {
        return tokens;
    }

    /// Takes no new work, gives what runs up to `grace`, and lets the sandboxes go on without a server.
    public void stop(Duration grace) {
        edge.stop(grace);
        close();
    }

    /// Stops at once, from the top down. Sandboxes go on. Idempotent.
    @Override
    public void close() {
        edge.close();
        sandboxes.close();
        provider.close();
        db.close();
    }

    private static SandboxesConfig engine(EngineConfig config) {
        return new SandboxesConfig(
                config.capacity().poolSize(),
                config.capacity().maxSandboxes(),
                config.lifetime().idleTimeout(),
                config.lifetime().maxLifetime(),
                config.limits(),
                config.image(),
                config.capacity().maxCommandsPerSandbox(),
                RECONCILE_EVERY);
    }
}
