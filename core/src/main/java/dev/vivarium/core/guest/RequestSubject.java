package dev.vivarium.core.guest;

/// What a request is about, so that a refusal can name it. Immutable.
public sealed interface RequestSubject {
    record Program(String name) implements RequestSubject {}

    /// A file; `target` is its new name when it is being moved.
    record File(String path, String target) implements RequestSubject {
        public File(String path) {
            this(path, path);
        }
    }

    /// Something that may listen inside, for example `port 8080`.
    record Port(String target) implements RequestSubject {}

    /// The sandbox as a whole.
    record Machine() implements RequestSubject {}

    /// The field of a request that is at fault when the guest calls it invalid.
    default String field() {
        return switch (this) {
            case Program _ -> "command";
            case File _ -> "path";
            case Port _ -> "port";
            case Machine _ -> "request";
        };
    }

    /// What was being done, for a failure of ours.
    default String step() {
        return switch (this) {
            case Program(String name) -> "starting " + name;
            case File(String path, String _) -> "working on '" + path + "'";
            case Port(String target) -> "connecting to " + target;
            case Machine _ -> "asking the guest";
        };
    }
}
