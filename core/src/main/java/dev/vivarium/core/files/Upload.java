package dev.vivarium.core.files;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import java.util.Optional;
import java.util.function.Supplier;

/// File that is being written. It appears completely with [#commit], or not at all. Confined to one writer thread; any
/// thread may call [#close].
public final class Upload implements AutoCloseable {
    private final Channel channel;
    private final String path;
    private final CommitStep commitStep;
    private long written;
    private Optional<FileVersion> version = Optional.empty();

    /// Limits of a write: size of the file, and number and total size of all files. 0 means no limit. Immutable.
    public record Limits(long maxFileBytes, long maxFiles, long maxTotalBytes) {
        public static final Limits NONE = new Limits(0, 0, 0);
    }

    /// Commit step, which runs under the write lock of the sandbox and checks the write condition.
    interface CommitStep {
        FileEntry take(Supplier<FileEntry> commit);
    }

    Upload(Channel channel, String path, CommitStep commitStep) {
        this.channel = channel;
        this.path = path;
        this.commitStep = commitStep;
    }

    /// Sends bytes and blocks while the guest does not read them. Throws as soon as the guest has rejected the
    /// file.
    public void write(byte[] bytes, int offset, int length) {
        written += length;
        if (!channel.write(bytes, offset, length)) {
            finish();
            throw new IllegalStateException("the upload is over");
        }
    }

    /// Moves the file to its path. Returns its metadata.
    public FileEntry commit() {
        return commitStep.take(() -> {
            channel.closeInput();
            return finish();
        });
    }

    /// Returns the version of the committed file. Empty if the guest is too old to report it.
    public Optional<FileVersion> version() {
        return version;
    }

    /// Leaves no file behind unless [#commit] has returned. Idempotent.
    @Override
    public void close() {
        channel.close();
    }

    private FileEntry finish() {
        try {
            return channel.result(fields -> {
                FileEntry entry = EntryCodec.read(fields, path);
                version = FileVersion.read(fields, entry);
                return entry;
            });
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.WorkspaceFull(long max, long total, long _)) {
                // The guest counts the new file too. The message must report the current size.
                throw new SandboxException(new Failure.WorkspaceFull(max, Math.max(0, total - written), written), e);
            }
            if (e.failure() instanceof Failure.FileExists) {
                // Occurs only if the writer required that the path does not exist.
                throw new SandboxException(new Failure.PreconditionFailed(path, Optional.empty()), e);
            }
            throw e;
        }
    }
}
