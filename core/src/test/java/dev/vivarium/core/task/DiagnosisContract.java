package dev.vivarium.core.task;

import static dev.vivarium.model.Task.Status.BLOCKED;
import static dev.vivarium.model.Task.Status.READY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.json.DiagnosisJson;
import dev.vivarium.model.QueuedTask;
import dev.vivarium.model.Run;
import dev.vivarium.model.TaskEvent;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskLog;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Contract of the diagnosis of stuck workflows on every database.
abstract class DiagnosisContract extends QueueFixture {
    private Scheduler scheduler;
    private Audit audit;

    @BeforeEach
    void openAudit() {
        scheduler = new Scheduler(time::get);
        audit = new Audit(db, 1000);
    }

    @AfterEach
    void closeAudit() {
        audit.close();
        scheduler.close();
    }

    private Diagnosis diagnosis(String holder, Optional<Run.Program> program) {
        var duty = new DutyLease(db, "diagnosis", holder, Duration.ofMinutes(5), time::get);
        var config = new Diagnosis.Config(Duration.ofMinutes(1), program, DiagnosisJson::context);
        return new Diagnosis(queue, log, duty, audit, config, scheduler);
    }

    private List<TaskEvent.Stuck> reports() {
        return log.read(new TaskLog(ANN), Query.after(0, 1000)).stream()
                .filter(event -> event.type().equals(TaskEvent.STUCK))
                .map(event -> (TaskEvent.Stuck) log.codec().decode(event))
                .toList();
    }

    private List<TaskId> failing() {
        List<TaskId> ids = queue.add(ANN, List.of(task("a"), task("b", "a"), task("c", "b")));
        fail(assign(ids.getFirst()), "budget");
        return ids;
    }

    @Test
    void aStuckWorkflowIsReportedOnceWithItsReason() {
        List<TaskId> ids = failing();
        var diagnosis = diagnosis("one", Optional.empty());
        diagnosis.runOnce();
        diagnosis.runOnce();
        add("later", ids.getFirst());
        add("last", ids.getLast());
        diagnosis.runOnce();

        assertThat(reports()).singleElement().satisfies(report -> {
            assertThat(report.lost()).containsExactly(ids.getFirst());
            assertThat(report.waiting()).isEqualTo(2);
            assertThat(report.reason()).contains(ids.getFirst().value(), "Do a", "failed", "because of budget");
            assertThat(report.diagnostic()).isEmpty();
        });
    }

    @Test
    void aRetryThatFailsIsAnotherState() {
        TaskId first = failing().getFirst();
        var diagnosis = diagnosis("one", Optional.empty());
        diagnosis.runOnce();
        queue.retry(first);
        diagnosis.runOnce();
        assertThat(reports()).hasSize(1);
        fail(assign(first), "budget");
        diagnosis.runOnce();

        assertThat(reports()).hasSize(2);
    }

    @Test
    void aWorkflowThatCanMoveIsNotStuck() {
        List<TaskId> ids = queue.add(ANN, List.of(task("a"), task("b", "a"), task("c"), task("d", "b", "c")));
        var jobs = dispatch.assign();
        fail(jobs.getFirst().attempt().task().equals(ids.getFirst()) ? jobs.getFirst() : jobs.getLast(), "budget");
        add("alone");
        var diagnosis = diagnosis("one", Optional.of(PROGRAM));
        diagnosis.runOnce();
        assertThat(status(ids.getLast())).isEqualTo(BLOCKED);
        assertThat(reports()).isEmpty();

        complete(jobs.getFirst().attempt().task().equals(ids.getFirst()) ? jobs.getLast() : jobs.getFirst());
        diagnosis.runOnce();
        assertThat(reports()).hasSize(1);
    }

    @Test
    void aDiagnosticTaskHasTheFailedTasksAndTheQuestionAndIsStartedOnce() {
        List<TaskId> ids = failing();
        diagnosis("one", Optional.of(PROGRAM)).runOnce();
        pass(Duration.ofMinutes(10));
        diagnosis("two", Optional.of(PROGRAM)).runOnce();

        TaskId id = reports().getFirst().diagnostic().orElseThrow();
        QueuedTask task = get(id);
        assertThat(task.task().status()).isEqualTo(READY);
        assertThat(task.task().owner()).isEqualTo(ANN);
        assertThat(task.task().wanted().description()).contains("Why did the tasks fail");
        assertThat(task.task().wanted().context()).contains(ids.getFirst().value(), "because of budget", "events");
        assertThat(task.plan().budgetUsd()).isPresent();
        assertThat(dispatch.assign()).hasSize(1);
    }

    @Test
    void aStuckDiagnosticTaskAndACancelledTaskHaveNoDiagnosticTask() {
        failing();
        var diagnosis = diagnosis("one", Optional.of(PROGRAM));
        diagnosis.runOnce();
        TaskId diagnostic = reports().getFirst().diagnostic().orElseThrow();
        add("after the diagnosis", diagnostic);
        fail(assign(diagnostic), "budget");
        TaskId cancelled = add("cancelled");
        add("after it", cancelled);
        queue.cancel(cancelled, "enough", Dependents.KEEP);
        diagnosis.runOnce();

        assertThat(reports()).hasSize(3);
        assertThat(reports().stream().flatMap(report -> report.diagnostic().stream()))
                .containsExactly(diagnostic);
    }

    @Test
    void aServerThatDoesNotHoldTheDutyReportsNothing() {
        var first = diagnosis("one", Optional.empty());
        first.runOnce();
        failing();
        diagnosis("two", Optional.empty()).runOnce();
        assertThat(reports()).isEmpty();
        first.runOnce();
        assertThat(reports()).hasSize(1);
    }
}
