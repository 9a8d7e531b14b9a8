package dev.vivarium.policy;

import java.util.Optional;

/// Decision of a policy on one command line. Immutable.
public sealed interface Verdict {
    record Allowed() implements Verdict {}

    /// The command line must not run. `reason` is a sentence for people. `forbiddenPattern` is the deny pattern
    /// that matched, if any.
    record Refused(String reason, Optional<String> forbiddenPattern) implements Verdict {}

    default boolean isAllowed() {
        return this instanceof Allowed;
    }
}
