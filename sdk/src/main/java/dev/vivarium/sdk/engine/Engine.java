package dev.vivarium.sdk.engine;

import dev.vivarium.model.Command;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import java.io.InputStream;
import java.util.Optional;

/// Sandbox operations, over HTTP or in this process. Every expected failure is a `SandboxException` with the same
/// `Failure` in both. Thread-safe.
///
/// A thread that is interrupted while it waits gets a `CancellationException` and keeps its interrupt flag.
public interface Engine extends AutoCloseable {
    /// Returns the sandbox of the thread, and creates it if the thread has none.
    Session open(NewSandbox request);

    /// Returns the live sandbox of the thread, if any: of the caller's own thread, otherwise of the only thread of
    /// this name that the caller may use. Fails with `AmbiguousThread` if there are several.
    Optional<Session> find(ThreadId thread);

    /// Returns the live sandbox of the thread of this owner, if any.
    Optional<Session> find(ThreadKey key);

    /// Runs a shell command to its end. `NoSuchSandbox` guarantees that it did not start.
    ExecResult execute(SandboxId id, Command command);

    /// Starts a shell command. `NoSuchSandbox` guarantees that it did not start.
    Run start(SandboxId id, Command command);

    /// Writes a file atomically.
    FileEntry upload(SandboxId id, String name, Content content);

    /// Opens a file. The caller closes the stream.
    InputStream read(SandboxId id, String name);

    /// Lists all files of the workspace, newest first.
    Listing list(SandboxId id);

    Snapshots snapshots();

    /// Ends the sandbox and deletes its files. Idempotent; ignores an unknown id.
    void end(SandboxId id);

    /// Releases the resources of the engine. Idempotent.
    @Override
    void close();
}
