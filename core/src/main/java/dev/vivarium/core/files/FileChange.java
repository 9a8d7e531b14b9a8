package dev.vivarium.core.files;

import dev.vivarium.core.guest.Fields;

/// Change below a watched directory. Immutable.
///
/// `path` is relative to the directory. A move is a deletion and a creation.
public record FileChange(Kind kind, boolean directory, String path) {
    public enum Kind {
        CREATED,
        /// A file that was open for writing was closed.
        MODIFIED,
        DELETED,
        /// Changes were lost. The reader must list the directory again.
        OVERFLOW
    }

    static FileChange read(Fields fields) {
        Kind kind = kind(fields.u8());
        boolean directory = fields.u8() != 0;
        return new FileChange(kind, directory, fields.string());
    }

    private static Kind kind(int number) {
        return switch (number) {
            case 1 -> Kind.CREATED;
            case 2 -> Kind.MODIFIED;
            case 3 -> Kind.DELETED;
            // Also for kinds of a newer guest: listing again is always correct.
            default -> Kind.OVERFLOW;
        };
    }
}
