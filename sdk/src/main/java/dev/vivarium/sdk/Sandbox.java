package dev.vivarium.sdk;

import dev.vivarium.model.Command;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.policy.Verdict;
import dev.vivarium.sdk.ExecOptions.OnExpiry;
import dev.vivarium.sdk.engine.Content;
import dev.vivarium.sdk.engine.Engine;
import dev.vivarium.sdk.engine.Run;
import dev.vivarium.sdk.engine.Session;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;

/// Handle of the sandbox of a thread. It holds no resource. The sandbox exists on the server until it is idle for too
/// long or until [#end]. Thread-safe.
///
/// If the sandbox has expired, the next command, upload or listing creates a new one and continues there, once. The new
/// sandbox has no files; [#onRecreated] and [#recreations] report it. Reading a file creates no sandbox.
public final class Sandbox {
    private final Engine engine;
    private final CommandPolicy policy;
    private final NewSandbox request;
    private final AtomicReference<Session> session;
    private final AtomicInteger recreations = new AtomicInteger();
    private final List<Consumer<Recreated>> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean ended;

    Sandbox(Engine engine, CommandPolicy policy, NewSandbox request, Session session) {
        this.engine = engine;
        this.policy = policy;
        this.request = request;
        this.session = new AtomicReference<>(session);
    }

    public SandboxId id() {
        return session().id();
    }

    public ThreadId thread() {
        return request.thread();
    }

    /// Returns the session when it was opened or last recreated.
    public Session session() {
        return session.get();
    }

    /// Runs a shell command for at most thirty seconds.
    public ExecResult execute(String script) {
        return execute(script, ExecOptions.STANDARD);
    }

    public ExecResult execute(String script, Duration timeout) {
        return execute(script, ExecOptions.STANDARD.withTimeout(timeout));
    }

    /// Runs `bash -c script` to its end. Any exit code and a timeout are results. Throws `SandboxException` if
    /// there is no result.
    public ExecResult execute(String script, ExecOptions options) {
        Command command = checked(script, options);
        return inLiveSandbox(options.onExpiry(), id -> engine.execute(id, command));
    }

    /// Starts a shell command with a timeout of thirty seconds and streams its output.
    public Run start(String script) {
        return start(script, ExecOptions.STANDARD);
    }

    /// Starts `bash -c script`. Closing the run before its end kills the command.
    public Run start(String script, ExecOptions options) {
        Command command = checked(script, options).withOutputLimit(Command.UNLIMITED);
        return inLiveSandbox(options.onExpiry(), id -> engine.start(id, command));
    }

    /// Uploads a file with the same name.
    public FileEntry upload(Path file) {
        return upload(file, String.valueOf(file.getFileName()));
    }

    /// Uploads a file. `name` is relative to the workspace; missing directories are created.
    public FileEntry upload(Path file, String name) {
        return inLiveSandbox(OnExpiry.RECREATE, id -> engine.upload(id, name, new Content.OfFile(file)));
    }

    /// Uploads a stream to its end. The caller closes it.
    public FileEntry upload(String name, InputStream bytes) {
        // A stream cannot be sent twice, so an expired sandbox has to be noticed before it is touched.
        Session expected = session();
        if (!ended
                && engine.find(thread())
                        .filter(s -> s.id().equals(expected.id()))
                        .isEmpty()) {
            recreate(expected, new Failure.NoSuchSandbox(expected.id().value(), Optional.empty()));
        }
        return engine.upload(id(), name, new Content.OfStream(bytes));
    }

    /// Downloads a file to `target`, or into it with the same name if it is a directory. Replaces the target
    /// atomically. Returns the path of the file.
    public Path download(String name, Path target) {
        return Downloads.save(engine.read(id(), name), name, target);
    }

    /// Opens a file. The caller closes the stream.
    public InputStream open(String name) {
        return engine.read(id(), name);
    }

    /// Lists all files of the workspace, newest first.
    public Listing list() {
        return inLiveSandbox(OnExpiry.RECREATE, engine::list);
    }

    /// Ends the sandbox and deletes its files. This handle does not recreate it. Idempotent.
    public void end() {
        ended = true;
        engine.end(id());
    }

    /// Returns how often this handle has recreated its expired sandbox.
    public int recreations() {
        return recreations.get();
    }

    /// Registers a listener that is called on the thread that recreated the sandbox, before its call continues.
    public void onRecreated(Consumer<Recreated> listener) {
        listeners.add(listener);
    }

    private Command checked(String script, ExecOptions options) {
        options.env().keySet().stream()
                .filter(name -> !policy.allowsVariable(name))
                .findFirst()
                .ifPresent(name -> {
                    throw new SandboxException(
                            new Failure.InvalidRequest("env." + name, "is reserved with a list of allowed commands"));
                });
        return switch (policy.check(script)) {
            case Verdict.Allowed _ -> options.shell(script);
            case Verdict.Refused(String reason, var pattern) ->
                throw new SandboxException(new Failure.PolicyRefused(script, reason, pattern));
        };
    }

    /// Retries only after `NoSuchSandbox`, the only failure that guarantees that the server started nothing.
    private <T> T inLiveSandbox(OnExpiry onExpiry, Function<SandboxId, T> call) {
        Session expected = session();
        try {
            return call.apply(expected.id());
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.NoSuchSandbox gone && onExpiry == OnExpiry.RECREATE && !ended) {
                return call.apply(recreate(expected, gone).id());
            }
            throw e;
        }
    }

    /// Concurrent threads all request a sandbox and get the same one; the first notifies the listeners.
    private Session recreate(Session lost, Failure.NoSuchSandbox why) {
        Session now = engine.open(request);
        if (session.compareAndSet(lost, now)) {
            recreations.incrementAndGet();
            var news = new Recreated(lost, now, why);
            listeners.forEach(listener -> listener.accept(news));
        }
        return now;
    }
}
