package dev.vivarium.core.guest;

/// What a request is about, so that a refusal can name it. Immutable.
public sealed interface Subject {
    record Program(String name) implements Subject {}

    /// A file; `target` is its new name when it is being moved.
    record File(String path, String target) implements Subject {
        public File(String path) {
            this(path, path);
        }
    }

    /// Something that may listen inside, for example `port 8080`.
    record Listener(String target) implements Subject {}

    /// The sandbox as a whole.
    record Machine() implements Subject {}

    /// The field of a request that is at fault when the guest calls it invalid.
    default String field() {
        return switch (this) {
            case Program _ -> "command";
            case File _ -> "path";
            case Listener _ -> "port";
            case Machine _ -> "request";
        };
    }

    /// What was being done, for a failure of ours.
    default String step() {
        return switch (this) {
            case Program(String name) -> "starting " + name;
            case File(String path, String _) -> "working on '" + path + "'";
            case Listener(String target) -> "connecting to " + target;
            case Machine _ -> "asking the guest";
        };
    }
}
