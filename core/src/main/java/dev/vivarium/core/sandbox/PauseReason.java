package dev.vivarium.core.sandbox;

import dev.vivarium.core.store.SandboxRows.StoredPause;
import dev.vivarium.model.UserId;
import java.util.Arrays;
import java.util.Locale;

/// Reason for a pause or a resume. Immutable.
///
/// @param detail text for people
public record PauseReason(Cause cause, String detail) {
    /// A request arrived for a paused sandbox.
    public static final PauseReason TRAFFIC = new PauseReason(Cause.TRAFFIC, "woken by traffic");

    static final PauseReason RESTORE = new PauseReason(Cause.RESTORE, "to be given the files of a snapshot");

    /// A pause that an earlier version stored without a reason.
    static final PauseReason UNKNOWN = new PauseReason(Cause.USER, "");

    /// Cause of the pause or resume.
    public enum Cause {
        /// A user requested it.
        USER,
        /// A client used the sandbox.
        TRAFFIC,
        /// The files of a snapshot are restored.
        RESTORE,
        /// Disk space is low, and the disk of this sandbox grows.
        DISK;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static PauseReason diskLow(String detail) {
        return new PauseReason(Cause.DISK, detail);
    }

    /// Reason from the store.
    static PauseReason of(StoredPause stored) {
        return Arrays.stream(Cause.values())
                .filter(cause -> cause.label().equals(stored.cause()))
                .findFirst()
                .map(cause -> new PauseReason(cause, stored.detail()))
                .orElse(UNKNOWN);
    }

    /// One sentence for people, for example `user: by ann`.
    public String sentence() {
        return detail.isEmpty() ? cause.label() : cause.label() + ": " + detail;
    }

    /// Reason for the request of `user`.
    public static PauseReason by(UserId user) {
        return new PauseReason(Cause.USER, "by " + user);
    }
}
