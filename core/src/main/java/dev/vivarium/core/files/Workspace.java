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

/// The files of one sandbox, seen through its guest, which acts with the rights of the sandbox user. Paths are relative
/// to the workspace. Thread-safe.
///
/// Names that are not valid UTF-8 are shown with replacement characters; such a file can be seen but not named here.
public final class Workspace {
    private static final long TO_THE_END = -1;
    private static final int FILE_MODE = 0644;
    private static final int DIRECTORY_MODE = 0755;
    private static final int MAKE_PARENTS = 1;
    private static final int FAIL_IF_EXISTS = 2;
    private static final int KEEP_MODE = 4;

    /// How often a file that is written to while it is hashed is hashed again.
    private static final int ATTEMPTS = 3;

    private final Guest guest;
    private final WriteLock turns;

    /// `turns` are those of the sandbox, shared by all who change its files.
    public Workspace(Guest guest, WriteLock turns) {
        this.guest = guest;
        this.turns = turns;
    }

    /// What is at `path`. A symbolic link is not followed.
    public FileEntry stat(String path) {
        Payload request = new Payload().string(PathRules.checked(path)).u8(0);
        return guest.ask(Service.STAT, request, new RequestSubject.File(path), fields -> EntryCodec.read(fields, path));
    }

    /// Opens a file for reading. Anything but a regular file is refused at once.
    public Download read(String path) {
        return read(path, 0, TO_THE_END);
    }

    /// Opens a part of a file: at most `length` bytes from `offset`.
    public Download read(String path, long offset, long length) {
        Payload request =
                new Payload().string(PathRules.inside(path)).u64(offset).u64(length);
        Channel channel = guest.open(Service.READ, request, new RequestSubject.File(path));
        try {
            return channel.started(fields -> {
                FileEntry entry = EntryCodec.read(fields, path);
                return new Download(channel, entry, FileVersion.read(fields, entry));
            });
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// What a file holds, and whether it held still; one that did not is looked at again a few times.
    public FileHash hash(String path) {
        FileHash hash = hashOnce(path);
        for (int i = 1; i < ATTEMPTS && !hash.steady(); i++) {
            hash = hashOnce(path);
        }
        return hash;
    }

    private FileHash hashOnce(String path) {
        Payload request = new Payload().string(PathRules.inside(path));
        return guest.ask(Service.HASH, request, new RequestSubject.File(path), fields -> FileHash.read(fields, path));
    }

    /// Begins to write a file; missing directories are made. Nothing is seen under `path` before
    /// [Upload#commit], which replaces what was there.
    public Upload write(String path, Upload.Limits limits) {
        return write(path, limits, WriteCondition.NONE, FileMode.KEPT);
    }

    /// Begins to write a file, which replaces what was there if `condition` holds at the moment of
    /// [Upload#commit]. That nothing is there is known by the guest alone, and holds against processes inside too.
    public Upload write(String path, Upload.Limits limits, WriteCondition condition, FileMode mode) {
        int onlyNew = condition instanceof WriteCondition.Absent ? FAIL_IF_EXISTS : 0;
        int keepMode = mode instanceof FileMode.Kept ? KEEP_MODE : 0;
        Payload request = new Payload()
                .string(PathRules.inside(path))
                .u32(mode instanceof FileMode.Exactly(int bits) ? bits : FILE_MODE)
                .u8(MAKE_PARENTS | onlyNew | keepMode)
                .u64(limits.maxFileBytes())
                .u64(limits.maxFiles())
                .u64(limits.maxTotalBytes());
        Channel channel = guest.open(Service.WRITE, request, new RequestSubject.File(path));
        return new Upload(channel, path, commit -> change(path, condition, commit));
    }

    /// Lists a directory, newest first. At most `maxEntries` are returned; the totals count everything.
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

    /// The same in a compact form. `reserve` is called with each number of bytes before they are held; it throws to
    /// refuse them, which ends the listing.
    public PackedListing list(String path, ListDepth depth, int maxEntries, LongConsumer reserve) {
        Payload request =
                new Payload().string(PathRules.checked(path)).u8(flag(depth)).u32(maxEntries);
        try (Channel channel = guest.open(Service.LIST, request, new RequestSubject.File(path))) {
            var packed = new PackedListing(maxEntries, reserve);
            while (channel.next() instanceof Message.Data(int _, byte[] bytes)) {
                channel.parse(bytes, packed::add);
            }
            return channel.result(packed::end);
        }
    }

    /// Makes a directory and those above it. One that exists is fine.
    public void mkdir(String path) {
        Payload request =
                new Payload().string(PathRules.inside(path)).u32(DIRECTORY_MODE).u8(1);
        guest.ask(Service.MKDIR, request, new RequestSubject.File(path), Fields::isEmpty);
    }

    /// Gives a file or directory another name. Throws `FileExists` rather than replace anything.
    public void move(String from, String to) {
        move(from, to, Replacing.NOTHING, WriteCondition.NONE);
    }

    /// Gives a file or directory another name if `condition` holds for it.
    public void move(String from, String to, Replacing replacing, WriteCondition condition) {
        Payload request = new Payload()
                .string(PathRules.inside(from))
                .string(PathRules.inside(to))
                .u8(replacing == Replacing.WHAT_IS_THERE ? 1 : 0);
        change(
                from,
                condition,
                () -> guest.ask(Service.MOVE, request, new RequestSubject.File(from, to), Fields::isEmpty));
    }

    /// What a move may do to its target.
    public enum Replacing {
        NOTHING,
        WHAT_IS_THERE
    }

    /// Removes a file or directory; one that is not empty only with [ListDepth#ALL]. Returns how many things went.
    public long remove(String path, ListDepth depth) {
        return remove(path, depth, WriteCondition.NONE);
    }

    /// Removes a file or directory if `condition` holds for it.
    public long remove(String path, ListDepth depth, WriteCondition condition) {
        Payload request = new Payload().string(PathRules.inside(path)).u8(flag(depth));
        return change(
                path, condition, () -> guest.ask(Service.REMOVE, request, new RequestSubject.File(path), Fields::u64));
    }

    /// Makes a change if the condition holds, with nobody else's between the two.
    private <T> T change(String path, WriteCondition condition, Supplier<T> change) {
        return turns.take(() -> {
            require(path, condition);
            return change.get();
        });
    }

    /// Throws `PreconditionFailed` unless the condition holds now.
    private void require(String path, WriteCondition condition) {
        if (condition instanceof WriteCondition.Always) {
            return;
        }
        boolean isPresent = find(path).isPresent();
        Set<String> names = isPresent ? names(path, condition.namesHash()) : Set.of();
        if (!condition.holds(isPresent, names)) {
            throw new SandboxException(
                    new Failure.PreconditionFailed(path, names.stream().findFirst()));
        }
    }

    /// What is at `path`, if anything is. A symbolic link is not followed.
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

    /// The names of the content that is there, its `ETag` first: its hash, or the version of a large file. A large
    /// file is hashed only if `wantsHash`. A directory, or a link that leads nowhere, has none.
    private Set<String> names(String path, boolean wantsHash) {
        try (Download download = read(path, 0, 0)) {
            var names = new LinkedHashSet<String>();
            long size = download.entry().size();
            boolean isLarge =
                    size > FileVersion.HASHED_BYTES && download.version().isPresent();
            if (isLarge) {
                names.add(download.version().get().tag());
            }
            if (!isLarge || wantsHash && size <= FileVersion.MOST_HASHED_BYTES) {
                names.add(steadyHash(path));
            }
            return names;
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

    /// Watches a directory and everything below it. What happens after this call has returned is seen.
    public Watch watch(String path) {
        Payload request = new Payload().string(PathRules.checked(path)).u8(1);
        Channel channel = guest.open(Service.WATCH, request, new RequestSubject.File(path));
        try {
            channel.started(Fields::isEmpty);
            return new Watch(channel, path);
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static int flag(ListDepth depth) {
        return switch (depth) {
            case TOP -> 0;
            case ALL -> 1;
        };
    }
}
