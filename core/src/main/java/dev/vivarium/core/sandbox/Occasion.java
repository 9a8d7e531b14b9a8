package dev.vivarium.core.sandbox;

import dev.vivarium.model.UserId;
import java.util.Locale;

/// Why a sandbox is frozen or thawed. Immutable.
///
/// @param detail in words, for people
public record Occasion(Cause cause, String detail) {
    /// A call or a visit came for one that was paused.
    public static final Occasion TRAFFIC = new Occasion(Cause.TRAFFIC, "woken by traffic");

    static final Occasion RESTORE = new Occasion(Cause.RESTORE, "to be given the files of a snapshot");

    /// What brings it about.
    public enum Cause {
        /// Somebody asked for it.
        USER,
        /// Somebody used it.
        TRAFFIC,
        /// It is given the files of a snapshot.
        RESTORE;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// Somebody asked for it.
    public static Occasion by(UserId user) {
        return new Occasion(Cause.USER, "by " + user);
    }
}
