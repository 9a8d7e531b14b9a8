package dev.vivarium.sdk.engine;

import dev.vivarium.model.Command;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import java.io.InputStream;
import java.util.Optional;

/// Sandboxes wherever they run: behind HTTP or in this process. Every expected failure is a `SandboxException` with the
/// same `Failure` on both sides. Thread-safe.
///
/// A worker that is interrupted while it waits gets a `CancellationException` and keeps its interrupt flag.
public interface Engine extends AutoCloseable {
    /// The thread's sandbox, created if there is none.
    Session open(NewSandbox request);

    /// The thread's sandbox if it has one that lives.
    Optional<Session> find(ThreadId thread);

    /// Runs a shell command to its end. `NoSuchSandbox` promises that it was not started.
    ExecResult execute(SandboxId id, Command command);

    /// Starts a shell command. `NoSuchSandbox` promises that it was not started.
    Run start(SandboxId id, Command command);

    /// Writes a file whole or not at all.
    FileEntry upload(SandboxId id, String name, Content content);

    /// The bytes of a file. The caller closes the stream.
    InputStream read(SandboxId id, String name);

    /// Every file of the workspace, newest first.
    Listing list(SandboxId id);

    Snapshots snapshots();

    /// Ends the sandbox with all its files. Idempotent; an unknown id is fine.
    void end(SandboxId id);

    /// Releases what the engine holds. Idempotent.
    @Override
    void close();
}
