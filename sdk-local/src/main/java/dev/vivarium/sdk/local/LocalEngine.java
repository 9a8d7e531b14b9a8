package dev.vivarium.sdk.local;

import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.engine.Content;
import dev.vivarium.sdk.engine.Engine;
import dev.vivarium.sdk.engine.LocalConfig;
import dev.vivarium.sdk.engine.Run;
import dev.vivarium.sdk.engine.Session;
import dev.vivarium.sdk.engine.Snapshots;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;

/// Sandbox operations of an engine in this process. Thread-safe.
final class LocalEngine implements Engine {
    private static final int MAX_ENTRIES = 100_000;

    private final LocalComponents machinery;
    private final Sandboxes sandboxes;

    private LocalEngine(LocalComponents machinery) {
        this.machinery = machinery;
        this.sandboxes = machinery.sandboxes();
    }

    static LocalEngine open(LocalConfig config) {
        return new LocalEngine(LocalComponents.start(config));
    }

    @Override
    public Session open(NewSandbox request) {
        return interruptibly(() -> {
            var opened = sandboxes.open(request);
            var origin = opened.created() ? Session.Origin.CREATED : Session.Origin.EXISTING;
            return new Session(opened.sandbox().info(), origin);
        });
    }

    @Override
    public Optional<Session> find(ThreadId thread) {
        return interruptibly(() -> key(sandboxes, thread).flatMap(this::findOf));
    }

    @Override
    public Optional<Session> find(ThreadKey key) {
        return interruptibly(() -> findOf(key));
    }

    private Optional<Session> findOf(ThreadKey key) {
        return sandboxes.find(key).map(found -> new Session(found.info(), Session.Origin.EXISTING));
    }

    /// Returns the only thread of this name. Fails with `AmbiguousThread` if several users have one.
    static Optional<ThreadKey> key(Sandboxes sandboxes, ThreadId thread) {
        List<UserId> owners = sandboxes.ownersOf(thread);
        if (owners.size() > 1) {
            throw new SandboxException(new SandboxFailure.AmbiguousThread(thread, owners));
        }
        return owners.stream().map(owner -> new ThreadKey(owner, thread)).findFirst();
    }

    @Override
    public ExecResult execute(SandboxId id, Command command) {
        return interruptibly(() -> {
            try (var execution = sandboxes.require(id).exec(command)) {
                return execution.collect();
            }
        });
    }

    @Override
    public Run start(SandboxId id, Command command) {
        return interruptibly(() -> new LocalRun(sandboxes.require(id).exec(command)));
    }

    @Override
    public FileEntry upload(SandboxId id, String name, Content content) {
        return interruptibly(() -> Transfers.upload(sandboxes.require(id).files(), name, content));
    }

    @Override
    public InputStream read(SandboxId id, String name) {
        return interruptibly(
                () -> new DownloadStream(sandboxes.require(id).files().read(name)));
    }

    /// Omits directories, as the server does, so that every entry can be downloaded.
    @Override
    public Listing list(SandboxId id) {
        return interruptibly(() -> {
            var all = sandboxes.require(id).files().list("", ListDepth.ALL, MAX_ENTRIES);
            var files = all.entries().stream()
                    .filter(entry -> entry.type() != FileEntry.Type.DIRECTORY)
                    .toList();
            return new Listing(files, all.totalFiles(), all.totalDirectories(), all.totalBytes(), all.truncated());
        });
    }

    @Override
    public Snapshots snapshots() {
        return new LocalSnapshots(sandboxes);
    }

    @Override
    public void end(SandboxId id) {
        sandboxes.terminate(id, End.Cause.USER, "ended by its client");
    }

    @Override
    public void close() {
        machinery.close();
    }

    /// Converts an interrupt, which the engine reports as a failure, to a cancellation.
    static <T> T interruptibly(Supplier<T> call) {
        try {
            return call.get();
        } catch (SandboxException e) {
            if (!Thread.currentThread().isInterrupted()) {
                throw e;
            }
            var cancelled = new CancellationException("interrupted while waiting for the sandbox");
            cancelled.initCause(e);
            throw cancelled;
        }
    }
}
