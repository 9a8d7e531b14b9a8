package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.ReasonCode;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.model.End;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Ends runs that send heartbeats and do no work. Their tasks fail and are not retried. If the clock jumps, every run
/// has the full time again. Thread-safe.
final class IdleMonitor {
    private static final Logger LOG = LoggerFactory.getLogger(IdleMonitor.class);

    /// A run with a heartbeat within this time is alive. The heartbeat monitor handles the others.
    private static final Duration ALIVE = Duration.ofSeconds(90);

    private final Db db;
    private final Runs runs;
    private final LivenessConfig.Idle config;
    private final ClockJumps clock;
    private final Actions actions;

    /// Time of the last jump of the clock. Confined to the thread of the check.
    private Instant anew = Instant.EPOCH;

    /// Actions of the monitor on an idle run.
    interface Actions {
        /// Waits until the events of the run that are in the log count as activity.
        void await(Run run);

        void end(Run run, LivenessEvent.TerminatedIdle event, String reason);
    }

    IdleMonitor(Db db, Runs runs, LivenessConfig.Idle config, ClockJumps clock, Actions actions) {
        this.db = db;
        this.runs = runs;
        this.config = config;
        this.clock = clock;
        this.actions = actions;
    }

    /// Ends all idle runs.
    void check() {
        if (!config.isEnabled()) {
            return;
        }
        db.write(sql -> {
            Activity.forgetEnded(sql);
            return sql;
        });
        clock.apply(jump -> anew = clock.now().plus(jump));
        for (Activity.IdleRun candidate : candidates()) {
            runs.find(candidate.run()).filter(Run::isActive).ifPresent(this::endIfIdle);
        }
    }

    private List<Activity.IdleRun> candidates() {
        Instant now = clock.now();
        if (now.isBefore(anew.plus(config.threshold()))) {
            return List.of();
        }
        return db.read(sql -> Activity.idle(sql, now.minus(ALIVE), now.minus(config.threshold())));
    }

    private void endIfIdle(Run run) {
        try {
            actions.await(run);
            Optional<Activity.IdleRun> idle = candidates().stream()
                    .filter(still -> still.run().equals(run.id()))
                    .findFirst();
            idle.ifPresent(found -> end(run, found.lastWorkAt()));
        } catch (SandboxException e) {
            LOG.warn("Run {} is idle and is ended later: {}", run.id(), e.getMessage());
        }
    }

    private void end(Run run, Instant lastWorkAt) {
        Duration idle = Duration.between(lastWorkAt, clock.now());
        String reason = "no work and no input for " + idle.toMinutes() + " minutes; the last work was at " + lastWorkAt;
        actions.end(run, new LivenessEvent.TerminatedIdle(run.id(), run.task(), lastWorkAt, idle), reason);
    }

    /// Returns the actions on real runs: event, end of the run, end of the sandbox. After a crash in between, the
    /// next check repeats the rest.
    static Actions on(Agents agents, Sandboxes sandboxes, EventReader reader, LivenessLog log) {
        return new Actions() {
            @Override
            public void await(Run run) {
                reader.await(run.sandbox());
            }

            @Override
            public void end(Run run, LivenessEvent.TerminatedIdle event, String reason) {
                log.append(run, event);
                agents.fail(run, reason, ReasonCode.IDLE);
                sandboxes.terminate(run.sandbox(), End.Cause.IDLE, reason);
                log.audit(run, "idle: " + reason);
            }
        };
    }
}
