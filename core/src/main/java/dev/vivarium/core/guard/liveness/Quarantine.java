package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.run.Restarts;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.SandboxUse;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.End;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sandboxes of tasks that were restarted too often: frozen, and kept for inspection. Thread-safe.
///
/// A use keeps a sandbox from its idle timeout. A server that starts takes the uses again.
final class Quarantine {
    static final Duration KEPT = Duration.ofHours(24);

    private static final Logger LOG = LoggerFactory.getLogger(Quarantine.class);
    private static final int PAGE = 1000;

    private final Db db;
    private final Sandboxes sandboxes;
    private final Restarts restarts;
    private final LivenessLog log;
    private final Map<SandboxId, SandboxUse> uses = new ConcurrentHashMap<>();

    Quarantine(Db db, Sandboxes sandboxes, Restarts restarts, LivenessLog log) {
        this.db = db;
        this.sandboxes = sandboxes;
        this.restarts = restarts;
        this.log = log;
    }

    private record Entry(SandboxId sandbox, Instant keptUntil) {}

    /// Freezes the sandbox of a run that has ended. If the sandbox has ended too, only the event remains.
    void freeze(Run run, String reason) {
        Instant until = now().plus(KEPT);
        Optional<Sandbox> sandbox = sandboxes.find(run.sandbox());
        sandbox.ifPresent(found -> keep(found, run, reason, until));
        log.append(run, new LivenessEvent.Quarantined(run.id(), run.task(), reason, until));
        log.audit(run, "quarantined: " + reason);
        restarts.done(run.id(), Optional.empty());
    }

    private void keep(Sandbox sandbox, Run run, String reason, Instant until) {
        db.write(sql -> sql.update(
                "insert into quarantines (sandbox_id, run_id, reason, kept_until) values (?, ?, ?, ?)"
                        + " on conflict do nothing",
                sandbox.id().value(),
                run.id().value(),
                reason,
                until.toEpochMilli()));
        sandboxes.keepUntil(sandbox, until);
        hold(sandbox);
        try {
            sandbox.pause(PauseReason.quarantine(reason));
        } catch (SandboxException e) {
            LOG.warn("Sandbox {} is kept, but not frozen: {}", sandbox.id(), e.getMessage());
        }
    }

    private void hold(Sandbox sandbox) {
        uses.computeIfAbsent(sandbox.id(), _ -> sandbox.use());
    }

    /// Takes the uses that this server does not have, and ends the sandboxes whose time is over.
    void sweep() {
        for (Entry entry : entries()) {
            Optional<Sandbox> sandbox = sandboxes.find(entry.sandbox);
            boolean isOver = sandbox.isEmpty() || !now().isBefore(entry.keptUntil);
            if (isOver) {
                release(entry.sandbox);
                sandboxes.terminate(
                        entry.sandbox, End.Cause.QUARANTINED, "it was kept for " + KEPT.toHours() + " hours");
            } else {
                hold(sandbox.get());
            }
        }
    }

    private void release(SandboxId id) {
        Optional.ofNullable(uses.remove(id)).ifPresent(SandboxUse::close);
        db.write(sql -> sql.update("delete from quarantines where sandbox_id = ?", id.value()));
    }

    private List<Entry> entries() {
        return db.read(sql -> sql.list(
                "select sandbox_id, kept_until from quarantines order by kept_until limit ?",
                row -> new Entry(new SandboxId(row.getString(1)), Instant.ofEpochMilli(row.getLong(2))),
                PAGE));
    }

    private Instant now() {
        return log.clock().instant();
    }
}
