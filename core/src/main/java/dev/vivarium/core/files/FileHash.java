package dev.vivarium.core.files;

import dev.vivarium.core.guest.Fields;
import dev.vivarium.model.FileEntry;
import java.util.HexFormat;

/// SHA-256 of a file as lower-case hexadecimal text, with the metadata at the time it was opened. Immutable.
///
/// If `steady` is false, the file was written to during hashing.
public record FileHash(FileEntry entry, String sha256, boolean steady) {
    static FileHash read(Fields fields, String path) {
        FileEntry entry = EntryCodec.read(fields, path);
        return new FileHash(entry, HexFormat.of().formatHex(fields.bytes()), fields.u8() != 0);
    }
}
