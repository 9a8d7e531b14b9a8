package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.model.ConductorEvent.Kind;
import dev.vivarium.model.ConductorEvent.Overlap;
import dev.vivarium.model.ConductorEvent.Report;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.StepCodec;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Conductor of agent runs: compares the active runs of each user in an interval. It reports duplicate work and
/// conflicting edits to the log of the tasks of the user, and tells the agent of the later run. Runs of different users
/// are never compared. Thread-safe.
public final class Conductor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Conductor.class);
    private static final String NAME = "conductor";

    private final Db db;
    private final Outbox outbox;
    private final Runs runs;
    private final StepCodec texts;
    private final GuardianActions actions;
    private final GuardianPolicy standard;
    private final DutyLease lease;
    private final InstantSource clock;
    private volatile Runnable stop = () -> {};

    /// @param standard policy of runs without a policy of their own
    public Conductor(Guardian.Parts parts, DutyLease lease, GuardianPolicy standard, InstantSource clock) {
        this.db = parts.db();
        this.outbox = parts.outbox();
        this.runs = parts.runs();
        this.texts = parts.texts();
        this.actions = parts.actions();
        this.lease = lease;
        this.standard = standard;
        this.clock = clock;
    }

    public void start(Scheduler scheduler, Duration interval) {
        var jobs = scheduler.jobs().every(interval, NAME, this::runIfLeaseHolder);
        stop = jobs::close;
    }

    private void runIfLeaseHolder() {
        try {
            if (lease.hold()) {
                pass();
            }
        } catch (SandboxException | DutyLease.Superseded e) {
            LOG.warn("The conductor continues later: {}", e.getMessage());
        }
    }

    /// Compares the active runs of each user who has at least two.
    void pass() {
        Map<UserId, List<ActiveWork>> byUser = db.read(sql -> ActiveWork.all(sql, texts)).stream()
                .collect(Collectors.groupingBy(ActiveWork::owner, LinkedHashMap::new, Collectors.toList()));
        byUser.forEach((user, some) -> {
            if (some.size() > 1) {
                report(user, Overlaps.report(some));
            }
        });
    }

    private void report(UserId user, Report report) {
        var id = NewEvent.OUR_IDS + NAME + "." + lease.fencing() + "." + clock.millis();
        var event = new NewEvent(Optional.of(id), report, NewEvent.OURS);
        outbox.send(lease.write(sql -> outbox.put(sql, new TaskLog(user), event)));
        report.overlaps().forEach(this::notifyAgent);
    }

    private void notifyAgent(Overlap overlap) {
        runs.find(overlap.later())
                .filter(run -> run.status() == Run.Status.RUNNING && isSteered(run))
                .ifPresent(run -> {
                    try {
                        actions.nudge(run, NAME, overlap.kind().text() + "." + overlap.earlier(), text(overlap));
                    } catch (SandboxException e) {
                        LOG.info("The conductor did not tell run {}: {}", run.id(), e.getMessage());
                    }
                });
    }

    private boolean isSteered(Run run) {
        GuardianPolicy policy = run.guardian().orElse(standard);
        return policy == GuardianPolicy.STEER || policy == GuardianPolicy.STOP;
    }

    private static String text(Overlap overlap) {
        String files = overlap.files().isEmpty() ? "" : " Files: " + String.join(", ", overlap.files()) + ".";
        String advice = overlap.kind() == Kind.DUPLICATE
                ? "Do only the part that the other run does not do, or report that nothing is left."
                : "Keep your changes of these files small, and expect changes of the other run.";
        return "The conductor saw that an earlier run, " + overlap.earlier() + ", overlaps with yours: "
                + overlap.summary() + "." + files + " " + advice;
    }

    /// Idempotent.
    @Override
    public void close() {
        stop.run();
    }
}
