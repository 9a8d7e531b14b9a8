package dev.vivarium.core.files;

import java.util.Set;

/// Precondition of a change to a path, which prevents lost updates. Immutable.
///
/// A tag identifies content: its SHA-256 in lower-case hexadecimal text, or the [FileVersion#tag] of a large file. A
/// directory has no tag.
public sealed interface WriteCondition {
    /// Always true.
    WriteCondition NONE = new Always();

    /// Always true.
    record Always() implements WriteCondition {}

    /// The path exists.
    record Present() implements WriteCondition {}

    /// The path does not exist.
    record Absent() implements WriteCondition {}

    /// The path is a file with one of these tags.
    record OneOf(Set<String> hashes) implements WriteCondition {
        public OneOf {
            hashes = Set.copyOf(hashes);
        }
    }

    /// The path has none of these tags, or does not exist.
    record NoneOf(Set<String> hashes) implements WriteCondition {
        public NoneOf {
            hashes = Set.copyOf(hashes);
        }
    }

    /// Reports whether a tag of this condition is a SHA-256.
    default boolean hasHash() {
        return switch (this) {
            case Always _, Present _, Absent _ -> false;
            case OneOf(Set<String> tags) -> tags.stream().anyMatch(WriteCondition::isHash);
            case NoneOf(Set<String> tags) -> tags.stream().anyMatch(WriteCondition::isHash);
        };
    }

    private static boolean isHash(String tag) {
        return tag.matches("[0-9a-f]{64}");
    }

    /// Reports whether the condition holds for a path with these tags.
    default boolean holds(boolean present, Set<String> tags) {
        return switch (this) {
            case Always _ -> true;
            case Present _ -> present;
            case Absent _ -> !present;
            case OneOf(Set<String> wanted) -> tags.stream().anyMatch(wanted::contains);
            case NoneOf(Set<String> unwanted) -> tags.stream().noneMatch(unwanted::contains);
        };
    }
}
