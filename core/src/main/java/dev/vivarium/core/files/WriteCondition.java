package dev.vivarium.core.files;

import java.util.Set;

/// What must be so at a path before it is changed, so that two writers do not overwrite each other unseen. Contents are
/// named by their SHA-256 in lower-case hexadecimal text, those of large files by their [FileVersion#tag]; a directory
/// has none. Immutable.
public sealed interface WriteCondition {
    /// Whatever is there.
    WriteCondition NONE = new Always();

    /// Nothing is asked.
    record Always() implements WriteCondition {}

    /// Something is there.
    record Present() implements WriteCondition {}

    /// Nothing is there.
    record Absent() implements WriteCondition {}

    /// A file with one of these contents is there.
    record OneOf(Set<String> hashes) implements WriteCondition {
        public OneOf {
            hashes = Set.copyOf(hashes);
        }
    }

    /// A file with none of these contents is there, or something else, or nothing.
    record NoneOf(Set<String> hashes) implements WriteCondition {
        public NoneOf {
            hashes = Set.copyOf(hashes);
        }
    }

    /// Reports whether it names a content by a SHA-256.
    default boolean namesHash() {
        return switch (this) {
            case Always _, Present _, Absent _ -> false;
            case OneOf(Set<String> tags) -> tags.stream().anyMatch(WriteCondition::isHash);
            case NoneOf(Set<String> tags) -> tags.stream().anyMatch(WriteCondition::isHash);
        };
    }

    private static boolean isHash(String tag) {
        return tag.matches("[0-9a-f]{64}");
    }

    /// Reports whether it holds for what is there, which has these names.
    default boolean holds(boolean present, Set<String> names) {
        return switch (this) {
            case Always _ -> true;
            case Present _ -> present;
            case Absent _ -> !present;
            case OneOf(Set<String> wanted) -> names.stream().anyMatch(wanted::contains);
            case NoneOf(Set<String> unwanted) -> names.stream().noneMatch(unwanted::contains);
        };
    }
}
