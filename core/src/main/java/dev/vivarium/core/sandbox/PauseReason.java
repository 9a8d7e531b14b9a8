package dev.vivarium.core.sandbox;

import dev.vivarium.core.store.SandboxRows.StoredPause;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.UserId;

/// Reason for a pause, a resume or a hibernation. Immutable.
///
/// @param detail text for people
public record PauseReason(Cause cause, String detail) {
    /// A request arrived for a paused sandbox.
    public static final PauseReason TRAFFIC = new PauseReason(Cause.TRAFFIC, "woken by traffic");

    static final PauseReason RESTORE = new PauseReason(Cause.RESTORE, "to be given the files of a snapshot");

    /// The sandbox had no machine when the server started.
    static final PauseReason NO_MACHINE = new PauseReason(Cause.NO_SERVER, "it had no machine when the server started");

    /// A pause that an earlier version stored without a reason.
    static final PauseReason UNKNOWN = new PauseReason(Cause.USER, "");

    /// Cause of the pause, resume or hibernation.
    public enum Cause implements TextEnum {
        /// A user requested it.
        USER,
        /// A client used the sandbox.
        TRAFFIC,
        /// The files of a snapshot are restored.
        RESTORE,
        /// Disk space is low, and the disk of this sandbox grows.
        DISK,
        /// The task of the sandbox was restarted too often. The sandbox is kept for inspection.
        QUARANTINE,
        /// No client used the sandbox within its idle timeout.
        IDLE,
        /// The sandbox reached its absolute lifetime.
        LIFETIME,
        /// No server was there for longer than the orphan grace, or the host restarted.
        NO_SERVER
    }

    static PauseReason diskLow(String detail) {
        return new PauseReason(Cause.DISK, detail);
    }

    public static PauseReason quarantine(String detail) {
        return new PauseReason(Cause.QUARANTINE, detail);
    }

    static PauseReason of(StoredPause stored) {
        return TextEnum.find(Cause.class, stored.cause())
                .map(cause -> new PauseReason(cause, stored.detail()))
                .orElse(UNKNOWN);
    }

    /// Reports whether the server froze the sandbox, so that traffic must not resume it.
    boolean isByServer() {
        return cause == Cause.DISK || cause == Cause.QUARANTINE;
    }

    /// One sentence for people, for example `user: by ann`.
    public String sentence() {
        return detail.isEmpty() ? cause.text() : cause.text() + ": " + detail;
    }

    public static PauseReason by(UserId user) {
        return new PauseReason(Cause.USER, "by " + user);
    }
}
