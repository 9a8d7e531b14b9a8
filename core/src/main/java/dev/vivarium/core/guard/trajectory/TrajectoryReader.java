package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.run.Money;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.TaskRows;
import dev.vivarium.core.store.Sql;
import dev.vivarium.core.task.TaskQueue;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.StepCodec;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskConstraints;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// Durable reader that folds each event of an active run into the trajectory of the run. It reads each event once. If a
/// rule would act, it wakes the guardian after the commit. Thread-safe.
final class TrajectoryReader implements EventReader.Handler {
    private static final String STARTED = "sandbox.run_started";
    private static final String ENDED = "sandbox.run_ended";
    private static final Set<String> ANSWERS = Set.of("user.approve", "user.reject", "sandbox.review_expired");

    private final Runs runs;
    private final EventCodec events;
    private final StepCodec texts;
    private final Steps steps;
    private final GuardianLimits limits;
    private final Consumer<SandboxId> wake;

    /// Decoded trajectories of the newest transactions. An entry counts only if the row has the same number, so
    /// that a rollback or another server makes it void.
    private final Map<SandboxId, Known> decoded = new ConcurrentHashMap<>();

    private final Set<SandboxId> tripped = ConcurrentHashMap.newKeySet();

    private record Known(RunId run, Trajectory trajectory) {}

    /// @param wake called with the sandbox of a run that the guardian should look at. It must return at once
    TrajectoryReader(Runs runs, EventCodec events, StepCodec texts, GuardianLimits limits, Consumer<SandboxId> wake) {
        this.runs = runs;
        this.events = events;
        this.texts = texts;
        this.steps = new Steps(events, texts);
        this.limits = limits;
        this.wake = wake;
    }

    @Override
    public Set<String> types() {
        var types = new HashSet<>(Steps.TYPES);
        types.addAll(Set.of(STARTED, ENDED));
        return types;
    }

    @Override
    public void handle(Sql sql, Event event) throws SQLException {
        if (!(event.logId() instanceof SandboxId sandbox)) {
            return;
        }
        boolean isOurs = event.source().equals(NewEvent.OURS);
        switch (event.type()) {
            case STARTED -> {
                if (isOurs && events.decode(event) instanceof RunEvent.Started started) {
                    begin(sql, started, event.seq());
                }
            }
            case ENDED -> {
                if (isOurs) {
                    decoded.remove(sandbox);
                    TrajectoryRows.end(sql, sandbox);
                }
            }
            default -> fold(sql, sandbox, event);
        }
    }

    private void begin(Sql sql, RunEvent.Started started, long seq) throws SQLException {
        Optional<Run> run = runs.find(sql, started.run()).filter(Run::isActive);
        if (run.isPresent()) {
            GuardianPolicy policy = run.get().guardian().orElse(limits.standard());
            TrajectoryRows.begin(sql, run.get(), policy, Trajectory.begin(runLimits(sql, run.get()), seq));
        }
    }

    private RunLimits runLimits(Sql sql, Run run) throws SQLException {
        TaskConstraints constraints = TaskRows.find(sql, run.task())
                .map(Task::wanted)
                .map(task -> texts.constraints(task.constraints()))
                .orElse(TaskConstraints.NONE);
        Optional<Duration> timeLimit = Stream.of(constraints.timeLimit(), TaskQueue.runTimeout(sql, run.task()))
                .flatMap(Optional::stream)
                .min(Duration::compareTo);
        return new RunLimits(
                run.startedAt(), run.program().runtime(), run.budgetUsd().map(Money::nanos), timeLimit, constraints);
    }

    private void fold(Sql sql, SandboxId sandbox, Event event) throws SQLException {
        Optional<TrajectoryRows.Row> found = TrajectoryRows.find(sql, sandbox);
        if (found.isEmpty()) {
            return;
        }
        TrajectoryRows.Row row = found.get();
        if (ANSWERS.contains(event.type()) && row.ladder().asked().isPresent()) {
            tripped.add(sandbox);
        }
        Trajectory trajectory = decode(row);
        Optional<Step> step = steps.of(event, row.task(), trajectory.runLimits.runtime());
        if (step.isPresent()) {
            trajectory.apply(step.get());
            TrajectoryRows.fold(sql, sandbox, trajectory.counters.seq, TrajectoryText.encode(trajectory));
            decoded.put(sandbox, new Known(row.run(), trajectory));
            if (isActionable(row, trajectory, event)) {
                tripped.add(sandbox);
            }
        }
    }

    private Trajectory decode(TrajectoryRows.Row row) {
        Known known = decoded.remove(row.sandbox());
        return known != null && known.run.equals(row.run()) && known.trajectory.counters.seq == row.seq()
                ? known.trajectory
                : TrajectoryText.decode(row.state());
    }

    private boolean isActionable(TrajectoryRows.Row row, Trajectory trajectory, Event event) {
        if (row.policy() == GuardianPolicy.OFF || row.ladder().asked().isPresent()) {
            return false;
        }
        var findings = Rule.findings(trajectory, event.at());
        var input = new DecisionInput(row.policy(), findings, trajectory.counters.seq, Optional.empty(), event.at());
        return !findings.isEmpty() && !row.ladder().decide(input, limits).isNothing();
    }

    @Override
    public void committed(Event event) {
        if (event.logId() instanceof SandboxId sandbox && tripped.remove(sandbox)) {
            wake.accept(sandbox);
        }
    }
}
