package dev.vivarium.sdk;

import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.sdk.engine.Engine;
import dev.vivarium.sdk.engine.LocalConfig;
import dev.vivarium.sdk.engine.LocalMode;
import dev.vivarium.sdk.engine.Session;
import dev.vivarium.sdk.engine.Snapshots;
import dev.vivarium.sdk.http.HttpEngine;
import dev.vivarium.sdk.http.RemoteConfig;
import java.net.URI;
import java.util.Optional;
import java.util.ServiceLoader;

/// Client for sandboxes on a server or in this process, with one API. Thread-safe.
///
/// ```
/// try (var client = SandboxClient.remote(URI.create("http://127.0.0.1:8000"), key)) {
///     Sandbox box = client.sandbox("alice", "thread-1");
///     System.out.print(box.execute("echo hello").stdout());
/// }
/// ```
///
/// Expected failures are a `SandboxException` with a `Failure`. An interrupted thread gets a `CancellationException`
/// and keeps its interrupt flag. The server then kills the command of the call.
public final class SandboxClient implements AutoCloseable {
    private final Engine engine;
    private final CommandPolicy policy;

    private SandboxClient(Engine engine, CommandPolicy policy) {
        this.engine = engine;
        this.policy = policy;
    }

    /// Returns a client of a server.
    public static SandboxClient remote(URI server, String apiKey) {
        return remote(RemoteConfig.of(server, apiKey));
    }

    public static SandboxClient remote(RemoteConfig config) {
        return new SandboxClient(new HttpEngine(config), CommandPolicy.of(CommandPolicy.Mode.OPEN));
    }

    /// Returns a client with isolated sandboxes in this process; see [LocalConfig#standard].
    public static SandboxClient local() {
        return local(LocalConfig.standard());
    }

    /// Returns a client with sandboxes in this process. The engine is in a separate module, so that remote clients
    /// stay small.
    public static SandboxClient local(LocalConfig config) {
        LocalMode mode = ServiceLoader.load(LocalMode.class, SandboxClient.class.getClassLoader())
                .findFirst()
                .orElseThrow(() -> new SandboxException(new Failure.Unsupported(
                        "local mode", "add dev.vivarium:vivarium-sdk-local to run sandboxes in this process")));
        return new SandboxClient(mode.open(config), CommandPolicy.of(CommandPolicy.Mode.OPEN));
    }

    /// Returns a client that checks a policy before it sends a command. The policy is not a security boundary; see
    /// [CommandPolicy]. Both clients share one engine; closing either closes it.
    public SandboxClient withPolicy(CommandPolicy wanted) {
        return new SandboxClient(engine, wanted);
    }

    /// Returns the sandbox of the thread, and creates it if necessary. `session().isNew()` reports which.
    public Sandbox sandbox(String user, String thread) {
        return sandbox(NewSandbox.of(new UserId(user), new ThreadId(thread)));
    }

    /// Returns the sandbox of the thread, and creates it with these options if necessary. An existing sandbox does
    /// not change.
    public Sandbox sandbox(NewSandbox request) {
        return new Sandbox(engine, policy, request, engine.open(request));
    }

    /// Returns the live sandbox of the thread, if any: of the caller's own thread, otherwise of the only thread of
    /// this name that the caller may use. Fails with `AmbiguousThread` if there are several.
    public Optional<Sandbox> find(String thread) {
        return engine.find(new ThreadId(thread)).map(this::sandbox);
    }

    /// Returns the live sandbox of the thread of this owner, if any.
    public Optional<Sandbox> find(String owner, String thread) {
        return engine.find(new ThreadKey(new UserId(owner), new ThreadId(thread)))
                .map(this::sandbox);
    }

    private Sandbox sandbox(Session session) {
        var request = NewSandbox.of(session.info().user(), session.thread());
        return new Sandbox(engine, policy, request, session);
    }

    /// Snapshots of the files of threads.
    public Snapshots snapshots() {
        return engine.snapshots();
    }

    /// Cancels calls in progress and releases connections. Sandboxes on a server continue. Those of local mode end,
    /// unless the configuration keeps them. Idempotent.
    @Override
    public void close() {
        engine.close();
    }
}
