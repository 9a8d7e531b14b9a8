package dev.vivarium.core.store;

import dev.vivarium.model.Egress;
import dev.vivarium.model.End;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// Stored sandbox: everything that a server needs to recover it. Immutable.
///
/// A machine of the warm pool has a row without an owner. It gets an owner when it is handed out.
public record SandboxRow(
        SandboxId id,
        Optional<ThreadKey> owner,
        Phase phase,
        String image,
        String secret,
        Limits limits,
        Map<String, String> env,
        Egress egress,
        Duration idleTimeout,
        OnIdle onIdle,
        Instant createdAt,
        Instant lastActivity,
        Instant endsAt,
        Optional<End> end) {
    public SandboxRow {
        env = Map.copyOf(env);
    }

    /// Stored state of a sandbox. Each state has one recovery after a restart.
    public enum Phase implements TextEnum {
        CREATING,
        /// The guest is connected and ready in the warm pool.
        POOLED,
        RUNNING,
        PAUSED,
        /// The disk has no machine.
        HIBERNATED,
        TERMINATED,
        FAILED
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
                onIdle,
                end,
                Optional.empty()));
    }

    /// Returns the first option of the request that this sandbox does not have, if any. Does not compare the
    /// egress, which can change.
    public Optional<String> findDifference(NewSandbox wanted) {
        if (wanted.idleTimeout().filter(time -> !time.equals(idleTimeout)).isPresent()) {
            return Optional.of("timeout_minutes");
        }
        if (wanted.onIdle().filter(other -> other != onIdle).isPresent()) {
            return Optional.of("on_idle");
        }
        if (wanted.limits().filter(other -> !other.equals(limits)).isPresent()) {
            return Optional.of("limits");
        }
        if (!wanted.env().isEmpty() && !wanted.env().equals(env)) {
            return Optional.of("env");
        }
        return wanted.image().filter(other -> !other.equals(image)).map(_ -> "image");
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
                onIdle,
                createdAt,
                lastActivity,
                endsAt,
                end);
    }

    public SandboxRow withSecret(String other) {
        return new SandboxRow(
                id,
                owner,
                phase,
                image,
                other,
                limits,
                env,
                egress,
                idleTimeout,
                onIdle,
                createdAt,
                lastActivity,
                endsAt,
                end);
    }

    @Override
    public String toString() {
        return "SandboxRow[" + id + ", " + phase + ", " + owner + "]";
    }
}
