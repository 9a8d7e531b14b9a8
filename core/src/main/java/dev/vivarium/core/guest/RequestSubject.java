package dev.vivarium.core.guest;

/// Subject of a request, which a failure of the request names. Immutable.
public sealed interface RequestSubject {
    record Program(String name) implements RequestSubject {}

    /// A file; `target` is the new name in a move.
    record File(String path, String target) implements RequestSubject {
        public File(String path) {
            this(path, path);
        }
    }

    /// A listening port or socket inside, for example `port 8080`.
    record Port(String target) implements RequestSubject {}

    /// The sandbox as a whole.
    record Machine() implements RequestSubject {}

    /// Field of the request that is invalid if the guest rejects it.
    default String field() {
        return switch (this) {
            case Program _ -> "command";
            case File _ -> "path";
            case Port _ -> "port";
            case Machine _ -> "request";
        };
    }

    /// Name of the step, for a failure of the platform.
    default String step() {
        return switch (this) {
            case Program(String name) -> "starting " + name;
            case File(String path, String _) -> "working on '" + path + "'";
            case Port(String target) -> "connecting to " + target;
            case Machine _ -> "asking the guest";
        };
    }
}
