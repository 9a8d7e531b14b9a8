package dev.vivarium.core.files;

import dev.vivarium.core.guest.Fields;
import dev.vivarium.model.FileEntry;
import java.time.Instant;

/// Decoder of file metadata in the wire format. Stateless.
final class EntryCodec {
    private static final long NANOS = 1_000_000_000L;
    static final int PERMISSIONS = 07777;

    private EntryCodec() {}

    /// Decodes a `stat` of a file whose name is known.
    static FileEntry read(Fields fields, String name) {
        FileEntry.Type type = type(fields.u8());
        int mode = (int) fields.u32() & PERMISSIONS;
        long size = fields.u64();
        Instant modified = instant(fields.i64());
        fields.u32(); // uid: always that of the sandbox user, or one without meaning outside
        return new FileEntry(name, type, mode, size, modified);
    }

    static Instant instant(long nanos) {
        return Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS));
    }

    static FileEntry.Type type(int number) {
        return switch (number) {
            case 1 -> FileEntry.Type.FILE;
            case 2 -> FileEntry.Type.DIRECTORY;
            case 3 -> FileEntry.Type.LINK;
            case 5 -> FileEntry.Type.FIFO;
            case 6 -> FileEntry.Type.SOCKET;
            case 7 -> FileEntry.Type.CHARACTER_DEVICE;
            case 8 -> FileEntry.Type.BLOCK_DEVICE;
            default -> FileEntry.Type.OTHER;
        };
    }
}
