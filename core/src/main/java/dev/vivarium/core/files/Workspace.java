package dev.vivarium.core.files;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Fields;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.Message;
import dev.vivarium.core.guest.Payload;
import dev.vivarium.core.guest.Service;
import dev.vivarium.core.guest.Subject;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The files of one sandbox, seen through its guest, which acts with the rights of the sandbox user. Paths are relative
/// to the workspace. Thread-safe.
///
/// Names that are not valid UTF-8 are shown with replacement characters; such a file can be seen but not named here.
public final class Workspace {
    private static final long TO_THE_END = -1;
    private static final int FILE_MODE = 0644;
    private static final int DIRECTORY_MODE = 0755;
    private static final int MAKE_PARENTS = 1;

    private final Guest guest;

    public Workspace(Guest guest) {
        this.guest = guest;
    }

    /// What is at `path`. A symbolic link is not followed.
    public FileEntry stat(String path) {
        Payload request = new Payload().string(Names.checked(path)).u8(0);
        return guest.ask(Service.STAT, request, new Subject.File(path), fields -> Entries.read(fields, path));
    }

    /// Opens a file for reading. Anything but a regular file is refused at once.
    public Download read(String path) {
        return read(path, 0, TO_THE_END);
    }

    /// Opens a part of a file: at most `length` bytes from `offset`.
    public Download read(String path, long offset, long length) {
        Payload request = new Payload().string(Names.inside(path)).u64(offset).u64(length);
        Channel channel = guest.open(Service.READ, request, new Subject.File(path));
        try {
            return new Download(channel, channel.started(fields -> Entries.read(fields, path)));
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Begins to write a file; missing directories are made. Nothing is seen under `path` before
    /// [Upload#commit], which replaces what was there.
    public Upload write(String path, Upload.Limits limits) {
        Payload request = new Payload()
                .string(Names.inside(path))
                .u32(FILE_MODE)
                .u8(MAKE_PARENTS)
                .u64(limits.maxFileBytes())
                .u64(limits.maxFiles())
                .u64(limits.maxTotalBytes());
        return new Upload(guest.open(Service.WRITE, request, new Subject.File(path)), path);
    }

    /// Lists a directory, newest first. At most `maxEntries` are returned; the totals count everything.
    public Listing list(String path, Depth depth, int maxEntries) {
        Payload request =
                new Payload().string(Names.checked(path)).u8(flag(depth)).u32(maxEntries);
        try (Channel channel = guest.open(Service.LIST, request, new Subject.File(path))) {
            List<FileEntry> entries = entries(channel, maxEntries);
            entries.sort(Comparator.comparing(FileEntry::modified).reversed().thenComparing(FileEntry::name));
            return channel.result(
                    fields -> new Listing(entries, fields.u64(), fields.u64(), fields.u64(), fields.u8() != 0));
        }
    }

    /// Makes a directory and those above it. One that exists is fine.
    public void mkdir(String path) {
        Payload request =
                new Payload().string(Names.inside(path)).u32(DIRECTORY_MODE).u8(1);
        guest.ask(Service.MKDIR, request, new Subject.File(path), Fields::isEmpty);
    }

    /// Gives a file or directory another name. Throws `FileExists` rather than replace anything.
    public void move(String from, String to) {
        Payload request = new Payload()
                .string(Names.inside(from))
                .string(Names.inside(to))
                .u8(0);
        guest.ask(Service.MOVE, request, new Subject.File(from, to), Fields::isEmpty);
    }

    /// Removes a file or directory; one that is not empty only with [Depth#ALL]. Returns how many things went.
    public long remove(String path, Depth depth) {
        Payload request = new Payload().string(Names.inside(path)).u8(flag(depth));
        return guest.ask(Service.REMOVE, request, new Subject.File(path), Fields::u64);
    }

    /// Watches a directory and everything below it. What happens after this call has returned is seen.
    public Watch watch(String path) {
        Payload request = new Payload().string(Names.checked(path)).u8(1);
        Channel channel = guest.open(Service.WATCH, request, new Subject.File(path));
        try {
            channel.started(Fields::isEmpty);
            return new Watch(channel, path);
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static List<FileEntry> entries(Channel channel, int maxEntries) {
        var entries = new ArrayList<FileEntry>();
        while (channel.next() instanceof Message.Data(int _, byte[] bytes)) {
            channel.parse(bytes, fields -> {
                // The guest keeps to the bound; a hostile one must not fill our memory.
                while (!fields.isEmpty() && entries.size() < maxEntries) {
                    entries.add(Entries.readNamed(fields));
                }
                return entries;
            });
        }
        return entries;
    }

    private static int flag(Depth depth) {
        return switch (depth) {
            case TOP -> 0;
            case ALL -> 1;
        };
    }
}
