package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.GuardianEvent;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Review;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Decisions of the guardian about single runs. A decision, its events and its act are stored in one transaction that
/// checks the lease; then the act is done. Confined to the thread of the guardian.
final class RunDecisions {
    private static final Logger LOG = LoggerFactory.getLogger(RunDecisions.class);

    private final Db db;
    private final Outbox outbox;
    private final Runs runs;
    private final GuardianActions actions;
    private final DutyLease lease;
    private final GuardianLimits limits;
    private final InstantSource clock;

    RunDecisions(
            Db db,
            Outbox outbox,
            Runs runs,
            GuardianActions actions,
            DutyLease lease,
            GuardianLimits limits,
            InstantSource clock) {
        this.db = db;
        this.outbox = outbox;
        this.runs = runs;
        this.actions = actions;
        this.lease = lease;
        this.limits = limits;
        this.clock = clock;
    }

    /// Returns the trajectories of all active runs.
    List<TrajectoryRows.Row> all() {
        return db.read(TrajectoryRows::all);
    }

    /// Looks at the active run of a sandbox, with a finding of the judge if there is one.
    void examine(SandboxId sandbox, Optional<Finding> judged) {
        Optional<TrajectoryRows.Row> row = db.read(sql -> TrajectoryRows.find(sql, sandbox));
        Optional<Run> run = row.flatMap(found -> runs.find(found.run()));
        if (row.isPresent() && run.isPresent()) {
            examine(row.get(), run.get(), judged);
        }
    }

    /// Looks at a run. It reads no more than the review that the guardian waits for.
    void examine(TrajectoryRows.Row row, Run run, Optional<Finding> judged) {
        if (!run.isActive() || row.policy() == GuardianPolicy.OFF) {
            return;
        }
        if (row.pending().isPresent()) {
            // An earlier server stored the act and did not do it.
            perform(row, run, row.ladder(), row.pending().get());
            return;
        }
        boolean isAsked = row.ladder().asked().isPresent();
        if (run.status() == Run.Status.RUNNING || isAsked) {
            Decision decision = row.ladder().decide(input(row, judged), limits);
            if (!decision.ladder().equals(row.ladder())) {
                apply(row, run, decision);
            }
        }
    }

    private DecisionInput input(TrajectoryRows.Row row, Optional<Finding> judged) {
        Instant now = clock.instant();
        Optional<Review> review =
                row.ladder().asked().flatMap(Rung::review).flatMap(id -> actions.review(row.sandbox(), id));
        if (row.ladder().asked().isPresent()) {
            return new DecisionInput(row.policy(), List.of(), row.seq(), review, now);
        }
        var findings = new ArrayList<>(Rule.findings(TrajectoryText.decode(row.state()), now));
        judged.ifPresent(findings::add);
        return new DecisionInput(row.policy(), findings, row.seq(), review, now);
    }

    private void apply(TrajectoryRows.Row row, Run run, Decision decision) {
        List<GuardianEvent> events = decision.events(run);
        List<Outbox.PendingEvent> stored = lease.write(sql -> {
            boolean isSame = TrajectoryRows.decide(sql, row, decision.ladder(), decision.action());
            return isSame ? put(sql, run, row.ladder().acts(), events) : List.of();
        });
        outbox.sendAll(stored);
        if (decision.action().isPresent() && (!stored.isEmpty() || events.isEmpty())) {
            perform(row, run, decision.ladder(), decision.action().get());
        }
    }

    private List<Outbox.PendingEvent> put(Sql sql, Run run, int number, List<GuardianEvent> events)
            throws SQLException {
        var stored = new ArrayList<Outbox.PendingEvent>();
        for (GuardianEvent event : events) {
            String id = NewEvent.OUR_IDS + run.id() + "." + event.type() + "." + number + "." + stored.size();
            stored.add(outbox.put(sql, run.sandbox(), new NewEvent(Optional.of(id), event, GuardianActions.GUARDIAN)));
        }
        return stored;
    }

    private void perform(TrajectoryRows.Row row, Run run, Ladder ladder, GuardianAction action) {
        Ladder after = ladder;
        try {
            after = performed(run, ladder, action);
        } catch (SandboxException e) {
            if (!(e.failure() instanceof RunFailure)) {
                throw e;
            }
            // The run has ended meanwhile, or its queue of messages is full.
            LOG.info("The guardian did not act on run {}: {}", run.id(), e.getMessage());
        }
        Ladder kept = after;
        boolean _ = lease.write(sql -> TrajectoryRows.decide(sql, row, kept, Optional.empty()));
    }

    private Ladder performed(Run run, Ladder ladder, GuardianAction action) {
        switch (action) {
            case GuardianAction.Nudge(int number, String text) ->
                actions.nudge(run, GuardianActions.GUARDIAN, String.valueOf(number), text);
            case GuardianAction.Ask ask -> {
                Review review = actions.ask(run, ask);
                return ladder.of(ask.rule())
                        .map(rung -> ladder.with(rung.withReview(review.id().value())))
                        .orElse(ladder);
            }
            case GuardianAction.Release _ -> actions.release(run);
            case GuardianAction.Stop(int _, String reason) -> actions.stop(run, reason);
        }
        return ladder;
    }
}
