package dev.vivarium.core.sandbox;

import dev.vivarium.core.store.SandboxRows.StoredPause;
import dev.vivarium.model.UserId;
import java.util.Arrays;
import java.util.Locale;

/// Why a sandbox is frozen or thawed. Immutable.
///
/// @param detail in words, for people
public record PauseReason(Cause cause, String detail) {
    /// A call or a visit came for one that was paused.
    public static final PauseReason TRAFFIC = new PauseReason(Cause.TRAFFIC, "woken by traffic");

    static final PauseReason RESTORE = new PauseReason(Cause.RESTORE, "to be given the files of a snapshot");

    /// A pause that an earlier version stored without a reason.
    static final PauseReason UNKNOWN = new PauseReason(Cause.USER, "");

    /// What brings it about.
    public enum Cause {
        /// Somebody asked for it.
        USER,
        /// Somebody used it.
        TRAFFIC,
        /// It is given the files of a snapshot.
        RESTORE,
        /// The server is short of disk space, and this sandbox's disk grows.
        DISK;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static PauseReason diskLow(String detail) {
        return new PauseReason(Cause.DISK, detail);
    }

    /// The reason as the store has it.
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

    /// Somebody asked for it.
    public static PauseReason by(UserId user) {
        return new PauseReason(Cause.USER, "by " + user);
    }
}
