package dev.vivarium.core.files;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Fields;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.Message;
import dev.vivarium.core.guest.Payload;
import dev.vivarium.core.guest.RequestSubject;
import dev.vivarium.core.guest.Service;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.model.SandboxException;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/// Files of one sandbox, accessed through its guest with the rights of the sandbox user. Thread-safe.
///
/// Paths are relative to the workspace. A name that is not valid UTF-8 is listed with replacement characters, but
/// cannot be addressed.
public final class Workspace {
    private static final long TO_THE_END = -1;
    private static final int FILE_MODE = 0644;
    private static final int DIRECTORY_MODE = 0755;
    private static final int MAKE_PARENTS = 1;
    private static final int FAIL_IF_EXISTS = 2;
    private static final int KEEP_MODE = 4;

    /// Maximum number of attempts to hash a file that is being written to.
    private static final int ATTEMPTS = 3;

    private final Guest guest;
    private final WriteLock writeLock;

    /// `writeLock` is the write lock of the sandbox, shared by all writers of its files.
    public Workspace(Guest guest, WriteLock writeLock) {
        this.guest = guest;
        this.writeLock = writeLock;
    }

    /// Returns the metadata of `path`. Does not follow a symbolic link.
    public FileEntry stat(String path) {
        Payload request =
                new Payload().string(PathRules.requireInsideOrRoot(path)).u8(0);
        return guest.ask(Service.STAT, request, new RequestSubject.File(path), fields -> EntryCodec.read(fields, path));
    }

    /// Opens a file for reading. Rejects anything but a regular file immediately.
    public Download read(String path) {
        return read(path, 0, TO_THE_END);
    }

    /// Opens a range of a file: at most `length` bytes from `offset`.
    public Download read(String path, long offset, long length) {
        Payload request =
                new Payload().string(PathRules.requireInside(path)).u64(offset).u64(length);
        Channel channel = guest.open(Service.READ, request, new RequestSubject.File(path));
        return channel.started(fields -> {
            FileEntry entry = EntryCodec.read(fields, path);
            return new Download(channel, entry, FileVersion.read(fields, entry));
        });
    }

    /// Returns the hash of a file, and whether the file was steady. Retries a few times if the file was written to
    /// meanwhile.
    public FileHash hash(String path) {
        FileHash hash = hashOnce(path);
        for (int i = 1; i < ATTEMPTS && !hash.steady(); i++) {
            hash = hashOnce(path);
        }
        return hash;
    }

    private FileHash hashOnce(String path) {
        Payload request = new Payload().string(PathRules.requireInside(path));
        return guest.ask(Service.HASH, request, new RequestSubject.File(path), fields -> FileHash.read(fields, path));
    }

    /// Starts writing a file, and creates missing directories. The file becomes visible at [Upload#commit], which
    /// replaces an existing one.
    public Upload write(String path, Upload.Limits limits) {
        return write(path, limits, WriteCondition.NONE, FileMode.KEPT);
    }

    /// Starts writing a file. If `condition` holds at [Upload#commit], the file replaces an existing one. For
    /// [WriteCondition.Absent], the guest checks again when it renames the file, because processes in the sandbox
    /// do not take the write lock.
    public Upload write(String path, Upload.Limits limits, WriteCondition condition, FileMode mode) {
        int onlyNew = condition instanceof WriteCondition.Absent ? FAIL_IF_EXISTS : 0;
        int keepMode = mode instanceof FileMode.Kept ? KEEP_MODE : 0;
        Payload request = new Payload()
                .string(PathRules.requireInside(path))
                .u32(mode instanceof FileMode.Exactly(int bits) ? bits : FILE_MODE)
                .u8(MAKE_PARENTS | onlyNew | keepMode)
                .u64(limits.maxFileBytes())
                .u64(limits.maxFiles())
                .u64(limits.maxTotalBytes());
        Channel channel = guest.open(Service.WRITE, request, new RequestSubject.File(path));
        return new Upload(channel, path, commit -> change(path, condition, commit));
    }

    /// Lists a directory, newest first. Returns at most `maxEntries` entries; the totals count all.
    public Listing list(String path, ListDepth depth, int maxEntries) {
        PackedListing packed = list(path, depth, maxEntries, _ -> {});
        Listing totals = packed.totals();
        return new Listing(
                packed.entries().toList(),
                totals.totalFiles(),
                totals.totalDirectories(),
                totals.totalBytes(),
                totals.truncated());
    }

    /// Lists a directory in compact form. Calls `reserve` with the number of bytes before each allocation. If
    /// `reserve` throws, the listing ends.
    public PackedListing list(String path, ListDepth depth, int maxEntries, LongConsumer reserve) {
        Payload request = new Payload()
                .string(PathRules.requireInsideOrRoot(path))
                .u8(flag(depth))
                .u32(maxEntries);
        try (Channel channel = guest.open(Service.LIST, request, new RequestSubject.File(path))) {
            var packed = new PackedListing(maxEntries, reserve);
            while (channel.next() instanceof Message.Data(int _, byte[] bytes)) {
                channel.parse(bytes, packed::add);
            }
            return channel.result(packed::end);
        }
    }

    /// Creates a directory and its parents. An existing directory is not an error.
    public void mkdir(String path) {
        Payload request = new Payload()
                .string(PathRules.requireInside(path))
                .u32(DIRECTORY_MODE)
                .u8(1);
        guest.ask(Service.MKDIR, request, new RequestSubject.File(path), Fields::isEmpty);
    }

    /// Renames a file or directory if `condition` holds for it. Throws `FileExists` if the target exists and must
    /// not be replaced.
    public void move(String from, String to, Replacing replacing, WriteCondition condition) {
        Payload request = new Payload()
                .string(PathRules.requireInside(from))
                .string(PathRules.requireInside(to))
                .u8(replacing == Replacing.EXISTING_TARGET ? 1 : 0);
        change(
                from,
                condition,
                () -> guest.ask(Service.MOVE, request, new RequestSubject.File(from, to), Fields::isEmpty));
    }

    /// Effect of a move on an existing target.
    public enum Replacing {
        NOTHING,
        EXISTING_TARGET
    }

    /// Removes a file or directory if `condition` holds for it; a non-empty directory only with [ListDepth#ALL].
    /// Returns the number of removed files and directories.
    public long remove(String path, ListDepth depth, WriteCondition condition) {
        Payload request = new Payload().string(PathRules.requireInside(path)).u8(flag(depth));
        return change(
                path, condition, () -> guest.ask(Service.REMOVE, request, new RequestSubject.File(path), Fields::u64));
    }

    /// Checks the condition and makes the change under the write lock.
    private <T> T change(String path, WriteCondition condition, Supplier<T> change) {
        return writeLock.take(() -> {
            require(path, condition);
            return change.get();
        });
    }

    /// Throws `PreconditionFailed` unless the condition holds.
    private void require(String path, WriteCondition condition) {
        if (condition instanceof WriteCondition.Always) {
            return;
        }
        boolean isPresent = find(path).isPresent();
        Set<String> tags = isPresent ? tags(path, condition.hasHash()) : Set.of();
        if (!condition.holds(isPresent, tags)) {
            throw new SandboxException(
                    new Failure.PreconditionFailed(path, tags.stream().findFirst()));
        }
    }

    /// Returns the metadata of `path`, if it exists. Does not follow a symbolic link.
    public Optional<FileEntry> find(String path) {
        try {
            return Optional.of(stat(path));
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.NoSuchFile || e.failure() instanceof Failure.WrongFileType) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Returns the tags of the current content. The first tag is the `ETag`: the hash of a small file, or the
    /// version of a large file. If `wantsHash`, a large file also has its hash. A directory or a dangling link has
    /// no tags.
    private Set<String> tags(String path, boolean wantsHash) {
        try (Download download = read(path, 0, 0)) {
            var tags = new LinkedHashSet<String>();
            long size = download.entry().size();
            boolean isLarge =
                    size > FileVersion.ALWAYS_HASHED_BYTES && download.version().isPresent();
            if (isLarge) {
                tags.add(download.version().get().tag());
            }
            if (!isLarge || wantsHash && size <= FileVersion.MAX_HASHED_BYTES) {
                tags.add(steadyHash(path));
            }
            return tags;
        } catch (SandboxException e) {
            return switch (e.failure()) {
                case Failure.NoSuchFile _, Failure.WrongFileType _, Failure.PathEscapes _ -> Set.of();
                case Failure other -> throw new SandboxException(other, e);
            };
        }
    }

    private String steadyHash(String path) {
        FileHash hash = hash(path);
        if (!hash.steady()) {
            throw new SandboxException(new Failure.FileChanging(path));
        }
        return hash.sha256();
    }

    /// Watches a directory and everything below it. The watch reports every change after this call returns.
    public Watch watch(String path) {
        Payload request =
                new Payload().string(PathRules.requireInsideOrRoot(path)).u8(1);
        Channel channel = guest.open(Service.WATCH, request, new RequestSubject.File(path));
        channel.started(Fields::isEmpty);
        return new Watch(channel, path);
    }

    private static int flag(ListDepth depth) {
        return switch (depth) {
            case TOP -> 0;
            case ALL -> 1;
        };
    }
}
