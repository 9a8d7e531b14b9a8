package dev.vivarium.core.files;

import java.util.Optional;
import java.util.Set;

/// What must be so at a path before it is changed, so that two writers do not overwrite each other unseen. Contents are
/// named by their SHA-256 in lower-case hexadecimal text, those of large files by their [FileVersion#tag]; a directory
/// has none. Immutable.
public sealed interface Condition {
    /// Whatever is there.
    Condition NONE = new Always();

    /// Nothing is asked.
    record Always() implements Condition {}

    /// Something is there.
    record Present() implements Condition {}

    /// Nothing is there.
    record Absent() implements Condition {}

    /// A file with one of these contents is there.
    record OneOf(Set<String> hashes) implements Condition {
        public OneOf {
            hashes = Set.copyOf(hashes);
        }
    }

    /// A file with none of these contents is there, or something else, or nothing.
    record NoneOf(Set<String> hashes) implements Condition {
        public NoneOf {
            hashes = Set.copyOf(hashes);
        }
    }

    /// Reports whether it holds for what is there.
    default boolean holds(boolean present, Optional<String> hash) {
        return switch (this) {
            case Always _ -> true;
            case Present _ -> present;
            case Absent _ -> !present;
            case OneOf(Set<String> wanted) -> hash.filter(wanted::contains).isPresent();
            case NoneOf(Set<String> unwanted) -> hash.filter(unwanted::contains).isEmpty();
        };
    }
}
