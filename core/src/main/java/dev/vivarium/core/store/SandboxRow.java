package dev.vivarium.core.store;

import dev.vivarium.model.Egress;
import dev.vivarium.model.End;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// Stored sandbox: everything that a server needs to recover it. Immutable.
///
/// A machine of the warm pool has a row without an owner. It gets an owner when it is handed out.
public record SandboxRow(
        SandboxId id,
        Optional<Owner> owner,
        Phase phase,
        String image,
        String secret,
        Limits limits,
        Map<String, String> env,
        Egress egress,
        Duration idleTimeout,
        Instant createdAt,
        Instant lastActivity,
        Instant endsAt,
        Optional<End> end) {
    public SandboxRow {
        env = Map.copyOf(env);
    }

    public record Owner(ThreadId thread, UserId user) {}

    /// Stored state of a sandbox. Each state has one recovery after a restart.
    public enum Phase implements TextEnum {
        CREATING,
        /// The guest is connected and ready in the warm pool.
        POOLED,
        RUNNING,
        PAUSED,
        TERMINATED,
        FAILED;

        static Phase of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }

    /// Returns the public data of an ended sandbox that has an owner.
    public Optional<SandboxInfo> info() {
        return owner.map(whose -> new SandboxInfo(
                id,
                whose.thread(),
                whose.user(),
                phase == Phase.FAILED ? Status.FAILED : Status.TERMINATED,
                limits,
                createdAt,
                lastActivity,
                lastActivity.plus(idleTimeout),
                endsAt,
                end,
                Optional.empty()));
    }

    public SandboxRow withPhase(Phase other) {
        return new SandboxRow(
                id,
                owner,
                other,
                image,
                secret,
                limits,
                env,
                egress,
                idleTimeout,
                createdAt,
                lastActivity,
                endsAt,
                end);
    }

    public SandboxRow withSecret(String other) {
        return new SandboxRow(
                id, owner, phase, image, other, limits, env, egress, idleTimeout, createdAt, lastActivity, endsAt, end);
    }

    @Override
    public String toString() {
        return "SandboxRow[" + id + ", " + phase + ", " + owner + "]";
    }
}
