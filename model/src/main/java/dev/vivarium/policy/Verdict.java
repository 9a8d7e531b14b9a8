package dev.vivarium.policy;

import java.util.Optional;

/// What a policy says about one command line. Immutable.
public sealed interface Verdict {
    /// The command line may run.
    record Allowed() implements Verdict {}

    /// The command line must not run. `reason` is a sentence for people; `forbiddenPattern` is the
    /// deny pattern that matched, when it was one.
    record Refused(String reason, Optional<String> forbiddenPattern) implements Verdict {}

    /// Reports whether the command line may run.
    default boolean isAllowed() {
        return this instanceof Allowed;
    }
}
