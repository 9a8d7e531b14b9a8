package dev.vivarium.testing;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.WorkerGrant;
import dev.vivarium.core.access.WorkerTokens;
import dev.vivarium.core.egress.Resolver;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.provider.oci.OciConfig;
import dev.vivarium.core.provider.oci.OciProvider;
import dev.vivarium.core.provider.oci.OciRuntime;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.server.Vivarium;
import dev.vivarium.server.console.Pages;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.Settings;
import dev.vivarium.testbed.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;

/// Real server on a free port with a temporary home. Closing it removes everything, including sandboxes. Thread-safe.
public final class TestServer implements AutoCloseable {
    /// System property that runs the tests on PostgreSQL.
    private static final String ON_POSTGRESQL = "vivarium.testing.postgresql";

    /// Loggers that tests silence. Strong references: the log manager holds loggers weakly and would lose the
    /// levels.
    private static final List<Logger> QUIET = List.of(
            Logger.getLogger("dev.vivarium.server.telemetry"),
            Logger.getLogger("dev.vivarium.core.provider.process"),
            Logger.getLogger("org.eclipse.jetty"));

    static {
        QUIET.forEach(logger -> logger.setLevel(Level.SEVERE));
    }

    private final Path home;
    private final Opener opener;
    private final Config config;
    private final Pages pages;
    private volatile Vivarium server;

    private TestServer(Path home, Opener opener, Config config, Pages pages) {
        this.home = home;
        this.opener = opener;
        this.config = config;
        this.pages = pages;
        this.server = Vivarium.start(config, open(), pages);
    }

    /// Starts a server with this console.
    public static TestServer start(Pages pages, String... arguments) {
        return start(ProcessProvider::open, config -> config, pages, arguments);
    }

    /// Opens a provider on a home.
    @FunctionalInterface
    public interface Opener {
        Provider open(Path home, GuestPrograms programs);
    }

    /// Starts a server whose sandboxes are plain processes. `arguments` are those of `viv serve`. The pool is empty
    /// by default.
    public static TestServer start(String... arguments) {
        return start(ProcessProvider::open, arguments);
    }

    /// Starts a server with isolated sandboxes. It needs root.
    public static TestServer startIsolated(String... arguments) {
        return start((home, guest) -> OciProvider.open(OciConfig.of(home, guest, OciRuntime.NATIVE)), arguments);
    }

    public static TestServer start(Opener opener, String... arguments) {
        return start(opener, config -> config, arguments);
    }

    /// Starts a server with isolated sandboxes, for which `resolver` resolves external names.
    public static TestServer startIsolated(Resolver resolver, String... arguments) {
        return startIsolatedAs(config -> config.withEgress(config.egress().withResolver(resolver)), arguments);
    }

    /// Starts a server with a change of its configuration that no setting allows.
    public static TestServer start(UnaryOperator<Config> change, String... arguments) {
        return start(ProcessProvider::open, change, arguments);
    }

    /// Starts a server with isolated sandboxes and a change of its configuration.
    public static TestServer startIsolatedAs(UnaryOperator<Config> change, String... arguments) {
        return start(
                (home, guest) -> OciProvider.open(OciConfig.of(home, guest, OciRuntime.NATIVE)), change, arguments);
    }

    /// Makes rate limits never refill, so that a test reaches them exactly.
    public static Config withoutRefills(Config config) {
        return config.withRates(config.rates().withNanos(() -> 0));
    }

    /// Gives clients a minute to authenticate, because a busy host is slow.
    private static Config withLongIntroduction(Config config) {
        return config.withWatch(config.watch().withAuthTimeout(Duration.ofMinutes(1)));
    }

    private static TestServer start(Opener opener, UnaryOperator<Config> change, String... arguments) {
        return start(opener, change, Pages.onClassPath(), arguments);
    }

    private static TestServer start(Opener opener, UnaryOperator<Config> change, Pages pages, String... arguments) {
        try {
            Path home = Files.createTempDirectory("viv-").toRealPath();
            var all = new ArrayList<>(List.of("--home", home.toString()));
            all.addAll(List.of(arguments));
            if (!all.contains("--port")) {
                all.addAll(List.of("--port", "0"));
            }
            if (Boolean.getBoolean(ON_POSTGRESQL) && !all.contains("--store")) {
                all.addAll(List.of("--store", PostgresServer.shared().newDatabase()));
            }
            if (!all.contains("--pool-size")) {
                all.addAll(List.of("--pool-size", "0"));
            }
            if (!all.contains("--auth-failure-delay-seconds")) {
                all.addAll(List.of("--auth-failure-delay-seconds", "0"));
            }
            var config = withLongIntroduction(Config.of(Settings.read(all, Map.of(), home)));
            return new TestServer(home, opener, change.apply(config), pages);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public URI uri() {
        return server.uri();
    }

    public Path home() {
        return home;
    }

    public String adminKey() {
        try {
            return Files.readString(home.resolve("credentials")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public List<Route> routes() {
        return server.routes();
    }

    public Sandboxes sandboxes() {
        return server.sandboxes();
    }

    public Tokens tokens() {
        return server.tokens();
    }

    /// Returns the tokens of the processes inside sandboxes.
    public WorkerTokens workers() {
        return server.workers();
    }

    /// Issues a token for a sandbox, with the standing of its owner.
    public String token(String sandbox, Scope... scopes) {
        var info = sandboxes().require(new SandboxId(sandbox)).info();
        var request = new TokenRequest(
                info.user(),
                Grant.Standing.OWNER,
                info.id(),
                info.key(),
                Scopes.of(scopes),
                TokenRequest.MAX_TTL,
                List.of());
        return server.tokens().issue(request).token();
    }

    /// Issues a token for the process inside a sandbox, for a random task without a run.
    public String workerToken(String sandbox, WorkerGrant.Audience audience) {
        return workerToken(sandbox, TaskId.random(new SecureRandom()), audience);
    }

    /// Issues a token for the process inside a sandbox, as the run of this task does.
    public String workerToken(String sandbox, TaskId task, WorkerGrant.Audience audience) {
        var info = sandboxes().require(new SandboxId(sandbox)).info();
        var work = new WorkerGrant.Work(info.id(), info.thread(), info.user(), task);
        return server.workers().issue(work, audience);
    }

    /// Returns a client with the admin key.
    public Api api() {
        return new Api(uri(), adminKey());
    }

    /// Stops the server gracefully, as a signal does. Sandboxes keep running.
    public void stop(Duration grace) {
        server.stop(grace);
    }

    /// Stops the server and starts it again on the same home. The port changes, unless the test chose it.
    public void restart() {
        restart(store -> {});
    }

    /// Restarts the server and changes the store while no server runs.
    public void restart(Consumer<Db> meanwhile) {
        server.close();
        try (var store = config.store()
                .map(address -> Db.postgres(address, home))
                .orElseGet(() -> Db.sqlite(home.resolve("vivarium.db")))) {
            meanwhile.accept(store);
        }
        server = Vivarium.start(config, open(), pages);
    }

    private Provider open() {
        return opener.open(home, GuestPrograms.extractTo(home.resolve("bin")));
    }

    @Override
    public void close() {
        server.close();
        try (var provider = open()) {
            for (var id : provider.survivors()) {
                provider.remove(id, Provider.Disk.ERASE);
            }
        }
        try {
            FileTrees.delete(home);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
