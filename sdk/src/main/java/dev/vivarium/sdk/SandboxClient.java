package dev.vivarium.sdk;

import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.sdk.engine.Engine;
import dev.vivarium.sdk.engine.LocalConfig;
import dev.vivarium.sdk.engine.LocalMode;
import dev.vivarium.sdk.engine.Snapshots;
import dev.vivarium.sdk.http.HttpEngine;
import dev.vivarium.sdk.http.RemoteConfig;
import java.net.URI;
import java.util.Optional;
import java.util.ServiceLoader;

/// Sandboxes for programs: one API, whether they run on a server or in this process. Thread-safe.
///
/// ```
/// try (var client = SandboxClient.remote(URI.create("http://127.0.0.1:8000"), key)) {
///     Sandbox box = client.sandbox("alice", "thread-1");
///     System.out.print(box.execute("echo hello").stdout());
/// }
/// ```
///
/// What fails on purpose is a `SandboxException` with a `Failure`. A worker that is interrupted gets a
/// `CancellationException` and keeps its interrupt flag. To be sure that the command itself ends too, start it and
/// close the run: a server notices that nobody waits for an `execute` only at the command's end or time limit.
public final class SandboxClient implements AutoCloseable {
    private final Engine engine;
    private final CommandPolicy policy;

    private SandboxClient(Engine engine, CommandPolicy policy) {
        this.engine = engine;
        this.policy = policy;
    }

    /// The sandboxes of a server.
    public static SandboxClient remote(URI server, String apiKey) {
        return remote(RemoteConfig.of(server, apiKey));
    }

    public static SandboxClient remote(RemoteConfig config) {
        return new SandboxClient(new HttpEngine(config), CommandPolicy.of(CommandPolicy.Mode.OPEN));
    }

    /// Sandboxes in this process, in containers: see [LocalConfig#standard].
    public static SandboxClient local() {
        return local(LocalConfig.standard());
    }

    /// Sandboxes in this process. The engine is in a module of its own, so that remote clients stay small.
    public static SandboxClient local(LocalConfig config) {
        LocalMode mode = ServiceLoader.load(LocalMode.class, SandboxClient.class.getClassLoader())
                .findFirst()
                .orElseThrow(() -> new SandboxException(new Failure.Unsupported(
                        "local mode", "add dev.vivarium:vivarium-sdk-local to run sandboxes in this process")));
        return new SandboxClient(mode.open(config), CommandPolicy.of(CommandPolicy.Mode.OPEN));
    }

    /// This client with a policy that is asked before a command is sent. A guard rail, not the boundary: see
    /// [CommandPolicy]. Both clients share one engine; closing either closes it.
    public SandboxClient withPolicy(CommandPolicy wanted) {
        return new SandboxClient(engine, wanted);
    }

    /// The thread's sandbox: the one it has, or a new one. Whether it is new, `session().isNew()` says.
    public Sandbox sandbox(String user, String thread) {
        return sandbox(NewSandbox.of(new UserId(user), new ThreadId(thread)));
    }

    /// The thread's sandbox with wishes, such as its own idle time-out, limits and environment. They hold
    /// for a new one;
    /// one that exists stays as it is.
    public Sandbox sandbox(NewSandbox request) {
        return new Sandbox(engine, policy, request, engine.open(request));
    }

    /// The thread's sandbox if it has one that lives; nothing is created.
    public Optional<Sandbox> find(String thread) {
        return engine.find(new ThreadId(thread)).map(session -> {
            var request = NewSandbox.of(session.info().user(), session.thread());
            return new Sandbox(engine, policy, request, session);
        });
    }

    /// Snapshots of the files of threads.
    public Snapshots snapshots() {
        return engine.snapshots();
    }

    /// Ends calls under way and releases connections. Sandboxes on a server live on, to be found again by their
    /// threads; those of local mode end, unless its configuration keeps them. Idempotent.
    @Override
    public void close() {
        engine.close();
    }
}
