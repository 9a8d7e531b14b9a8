package dev.vivarium.core.files;

import dev.vivarium.core.guest.Fields;
import dev.vivarium.model.FileEntry;
import java.util.HexFormat;

/// What a file holds, in a few bytes: its SHA-256 as lower-case hexadecimal text, and the file as it was when it was
/// opened for that. Without `steady` it was written to meanwhile. Immutable.
public record FileHash(FileEntry entry, String sha256, boolean steady) {
    static FileHash read(Fields fields, String path) {
        FileEntry entry = EntryCodec.read(fields, path);
        return new FileHash(entry, HexFormat.of().formatHex(fields.bytes()), fields.u8() != 0);
    }
}
