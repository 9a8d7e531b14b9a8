package dev.vivarium.core.files;

import dev.vivarium.core.guest.Fields;

/// Something that happened below a watched directory. `path` is relative to it; a move is a deletion and a creation.
/// Immutable.
public record FileChange(Kind kind, boolean directory, String path) {
    /// What happened.
    public enum Kind {
        CREATED,
        /// A file that was open for writing was closed.
        MODIFIED,
        DELETED,
        /// Changes were lost: look again.
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
            // Also what a newer guest may tell: to look again is right whatever it was.
            default -> Kind.OVERFLOW;
        };
    }
}
