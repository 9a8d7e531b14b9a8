package dev.vivarium.cli.sync;

import java.util.Locale;
import java.util.Optional;

/// Step of a plan: an operation on one path, and the versions on which the decision is based. If a side has another
/// version by then, the step does not change it. Immutable.
public record Change(Kind kind, String path, Optional<Version> local, Optional<Version> remote) {
    /// Operation.
    public enum Kind {
        UPLOAD,
        DOWNLOAD,
        DELETE_REMOTE,
        DELETE_LOCAL,
        /// Both sides are equal; only the common state is updated.
        RECORD,
        /// Both sides changed, differently.
        CONFLICT,
        /// A change against the chosen direction, which is skipped.
        SKIP;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }
}
