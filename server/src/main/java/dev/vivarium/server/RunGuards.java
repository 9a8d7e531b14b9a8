package dev.vivarium.server;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.guard.trajectory.Conductor;
import dev.vivarium.core.guard.trajectory.Guardian;
import dev.vivarium.core.guard.trajectory.GuardianActions;
import dev.vivarium.core.guard.trajectory.Judge;
import dev.vivarium.core.guard.trajectory.JudgeBudget;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.json.StepJson;
import dev.vivarium.server.model.ModelJudge;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.GuardianConfig;
import java.time.Duration;
import java.util.Optional;

/// Guardian and conductor of agent runs. Thread-safe.
record RunGuards(Guardian guardian, Conductor conductor, Optional<ModelJudge> judge) implements AutoCloseable {
    private static final Duration GUARDIAN_LEASE = Duration.ofSeconds(30);

    static RunGuards start(
            Config config, Db db, EventLog log, AgentRuns runs, GuardianActions actions, Scheduler scheduler) {
        var clock = scheduler.clock();
        GuardianConfig settings = config.runs().guardian();
        Optional<ModelJudge> judge = settings.judge()
                .model()
                .map(model -> new ModelJudge(
                        config.model(),
                        model,
                        settings.judge().timeout(),
                        new JudgeBudget(db, settings.judge().budgetUsd(), clock)));
        var parts = new Guardian.Parts(
                db,
                log,
                runs.outbox(),
                runs.runs(),
                actions,
                new StepJson(),
                judge.<Judge>map(model -> model).orElse(Judge.NONE));
        var guardian = new Guardian(
                parts,
                new DutyLease(db, "guardian", config.workerId(), GUARDIAN_LEASE, clock),
                settings.limits(),
                clock);
        var conductor = new Conductor(
                parts,
                new DutyLease(
                        db,
                        "conductor",
                        config.workerId(),
                        settings.conductorInterval().multipliedBy(2),
                        clock),
                settings.limits().standard(),
                clock);
        guardian.start(log);
        conductor.start(scheduler, settings.conductorInterval());
        return new RunGuards(guardian, conductor, judge);
    }

    /// Idempotent.
    @Override
    public void close() {
        conductor.close();
        guardian.close();
        judge.ifPresent(ModelJudge::close);
    }
}
