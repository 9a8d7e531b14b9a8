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

/// A real server on a free port, with a home of its own; closing it removes everything, sandboxes included.
/// Thread-safe.
public final class TestServer implements AutoCloseable {
    /// A property of the process, for the tests to be run again on the other database.
    private static final String ON_POSTGRESQL = "vivarium.testing.postgresql";

    /// What a test does is not news. Held, because the log manager would forget the levels with the loggers.
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

    /// A server with this console.
    public static TestServer start(Pages pages, String... arguments) {
        return start(ProcessProvider::open, config -> config, pages, arguments);
    }

    /// How a provider is opened on a home.
    @FunctionalInterface
    public interface Opener {
        Provider open(Path home, GuestPrograms programs);
    }

    /// A server whose sandboxes are plain processes. `arguments` are those of `viv serve`; the pool is empty unless
    /// they say otherwise.
    public static TestServer start(String... arguments) {
        return start(ProcessProvider::open, arguments);
    }

    /// A server whose sandboxes are isolated; needs root.
    public static TestServer startIsolated(String... arguments) {
        return start((home, guest) -> OciProvider.open(OciConfig.of(home, guest, OciRuntime.NATIVE)), arguments);
    }

    public static TestServer start(Opener opener, String... arguments) {
        return start(opener, config -> config, arguments);
    }

    /// A server whose sandboxes are isolated, for which names outside lead where `resolver` says.
    public static TestServer startIsolated(Resolver resolver, String... arguments) {
        return startIsolatedAs(config -> config.withEgress(config.egress().withResolver(resolver)), arguments);
    }

    /// A server of which something is changed that is no setting.
    public static TestServer start(UnaryOperator<Config> change, String... arguments) {
        return start(ProcessProvider::open, change, arguments);
    }

    /// The same with sandboxes that are isolated.
    public static TestServer startIsolatedAs(UnaryOperator<Config> change, String... arguments) {
        return start(
                (home, guest) -> OciProvider.open(OciConfig.of(home, guest, OciRuntime.NATIVE)), change, arguments);
    }

    /// For a server whose rate limits are met as soon as they are reached, and are never forgotten.
    public static Config withoutRefills(Config config) {
        return config.withRates(config.rates().withNanos(() -> 0));
    }

    /// For clients that stand still in the middle, as everybody does on a busy machine.
    private static Config patient(Config config) {
        return config.withWatch(config.watch().withIntroduction(Duration.ofMinutes(1)));
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
            var config = patient(Config.of(Settings.read(all, Map.of(), home)));
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

    /// What it answers to.
    public List<Route> routes() {
        return server.routes();
    }

    /// The engine behind it.
    public Sandboxes sandboxes() {
        return server.sandboxes();
    }

    /// The tokens it takes.
    public Tokens tokens() {
        return server.tokens();
    }

    /// The tokens of the processes inside sandboxes.
    public WorkerTokens workers() {
        return server.workers();
    }

    /// A token for a sandbox, as its owner would be given one.
    public String token(String sandbox, Scope... scopes) {
        var info = sandboxes().require(new SandboxId(sandbox)).info();
        var wanted = new TokenRequest(
                info.user(),
                Grant.Standing.OWNER,
                info.id(),
                info.thread(),
                Scopes.of(scopes),
                TokenRequest.MAX_TTL,
                List.of());
        return server.tokens().issue(wanted).token();
    }

    /// A token for the process inside a sandbox, as a run would be given one; for a task that nobody has.
    public String workerToken(String sandbox, WorkerGrant.Audience audience) {
        return workerToken(sandbox, TaskId.random(new SecureRandom()), audience);
    }

    /// A token for the process inside a sandbox, as its run at this task was given one.
    public String workerToken(String sandbox, TaskId task, WorkerGrant.Audience audience) {
        var info = sandboxes().require(new SandboxId(sandbox)).info();
        var work = new WorkerGrant.Work(info.id(), info.thread(), info.user(), task);
        return server.workers().issue(work, audience);
    }

    /// The API as the admin uses it.
    public Api api() {
        return new Api(uri(), adminKey());
    }

    /// Stops with grace, as a signal does; sandboxes go on.
    public void stop(Duration grace) {
        server.stop(grace);
    }

    /// Stops and starts again on the same home, as an operator would. The port changes, unless it was chosen.
    public void restart() {
        restart(store -> {});
    }

    /// The same, with something done to the store while no server is there.
    public void restart(Consumer<Db> meanwhile) {
        server.close();
        try (var store = config.store().map(Db::postgres).orElseGet(() -> Db.sqlite(home.resolve("vivarium.db")))) {
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
