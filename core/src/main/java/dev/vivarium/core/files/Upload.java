package dev.vivarium.core.files;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import java.util.Optional;
import java.util.function.Supplier;

/// A file that is being written. It appears whole with [#commit] or not at all. Confined to one writer; [#close] may be
/// called by anybody.
public final class Upload implements AutoCloseable {
    private final Channel channel;
    private final String path;
    private final Turn turn;
    private long written;
    private Optional<FileVersion> version = Optional.empty();

    /// What a write may make of the workspace: the size of the file, and the number and size of all files together.
    /// 0 means no limit. Immutable.
    public record Limits(long maxFileBytes, long maxFiles, long maxTotalBytes) {
        public static final Limits NONE = new Limits(0, 0, 0);
    }

    /// How the file is put in its place: in the turn of its writer, and only if what must be so is so.
    interface Turn {
        FileEntry take(Supplier<FileEntry> commit);
    }

    Upload(Channel channel, String path, Turn turn) {
        this.channel = channel;
        this.path = path;
        this.turn = turn;
    }

    /// Sends bytes and waits while the guest does not take them. Throws as soon as the guest has refused
    /// the file.
    public void write(byte[] bytes, int offset, int length) {
        written += length;
        if (!channel.write(bytes, offset, length)) {
            finish();
            throw new IllegalStateException("the upload is over");
        }
    }

    /// Puts the file in its place. Returns what is there now.
    public FileEntry commit() {
        return turn.take(() -> {
            channel.closeInput();
            return finish();
        });
    }

    /// The version of the file that [#commit] has put in its place; an older guest does not say.
    public Optional<FileVersion> version() {
        return version;
    }

    /// Leaves nothing behind unless [#commit] has returned. Idempotent.
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
                // The guest counts the workspace as it would be; people want to know what is there.
                throw new SandboxException(new Failure.WorkspaceFull(max, Math.max(0, total - written), written), e);
            }
            if (e.failure() instanceof Failure.FileExists) {
                // Only a writer who asked that nothing be there is told so.
                throw new SandboxException(new Failure.PreconditionFailed(path, Optional.empty()), e);
            }
            throw e;
        }
    }
}
