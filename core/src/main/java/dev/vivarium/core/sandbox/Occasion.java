package dev.vivarium.core.sandbox;

import dev.vivarium.core.store.SandboxRows.PauseReason;
import dev.vivarium.model.UserId;
import java.util.Arrays;
import java.util.Locale;

/// Why a sandbox is frozen or thawed. Immutable.
///
/// @param detail in words, for people
public record Occasion(Cause cause, String detail) {
    /// A call or a visit came for one that was paused.
    public static final Occasion TRAFFIC = new Occasion(Cause.TRAFFIC, "woken by traffic");

    static final Occasion RESTORE = new Occasion(Cause.RESTORE, "to be given the files of a snapshot");

    /// A pause that an earlier version stored without a reason.
    static final Occasion UNKNOWN = new Occasion(Cause.USER, "");

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

    static Occasion diskLow(String detail) {
        return new Occasion(Cause.DISK, detail);
    }

    /// The reason as the store has it.
    static Occasion of(PauseReason stored) {
        return Arrays.stream(Cause.values())
                .filter(cause -> cause.label().equals(stored.cause()))
                .findFirst()
                .map(cause -> new Occasion(cause, stored.detail()))
                .orElse(UNKNOWN);
    }

    /// One sentence for people, for example `user: by ann`.
    public String sentence() {
        return detail.isEmpty() ? cause.label() : cause.label() + ": " + detail;
    }

    /// Somebody asked for it.
    public static Occasion by(UserId user) {
        return new Occasion(Cause.USER, "by " + user);
    }
}
