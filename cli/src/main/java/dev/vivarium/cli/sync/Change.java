package dev.vivarium.cli.sync;

import java.util.Locale;
import java.util.Optional;

/// One step of a plan: what to do with one path, and the versions that the decision was made on. A side that has
/// another version by then is not touched. Immutable.
public record Change(Kind kind, String path, Optional<Version> local, Optional<Version> remote) {
    /// What is done.
    public enum Kind {
        UPLOAD,
        DOWNLOAD,
        DELETE_REMOTE,
        DELETE_LOCAL,
        /// Both sides already agree, and only the last common state does not know.
        RECORD,
        /// Both sides changed, differently.
        CONFLICT,
        /// A change that the chosen direction does not carry.
        SKIP;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }
}
