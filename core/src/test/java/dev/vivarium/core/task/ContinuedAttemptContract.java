package dev.vivarium.core.task;

import static dev.vivarium.model.Task.Status.FAILED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Run;
import dev.vivarium.model.RunId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPlan;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TaskSchedule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Contract of attempts that continue an attempt whose worker crashed.
abstract class ContinuedAttemptContract extends QueueFixture {
    /// Ends the run of an attempt whose worker crashed.
    private void crash(Dispatch.Job job) {
        Run ended = run(job, Run.Status.FAILED, "crashed");
        dispatch.settle(new Run(
                ended.id(),
                ended.sandbox(),
                ended.task(),
                ended.owner(),
                ended.thread(),
                ended.program(),
                ended.status(),
                ended.reason(),
                ended.reasonCode(),
                ended.budgetUsd(),
                ended.spent(),
                ended.session(),
                ended.process(),
                ended.startedAt(),
                ended.endedAt(),
                Optional.of(new Run.Heartbeat(time.get(), "{}")),
                ended.guardian()));
    }

    private Optional<RunId> continued(Dispatch.Job job) {
        return db.read(sql -> AttemptRows.continued(sql, job.attempt()));
    }

    private Optional<String> stopCode(Dispatch.Job job) {
        return db.read(
                sql -> AttemptRows.live(sql, job.attempt().run().orElseThrow()).flatMap(AttemptRows.Live::stopCode));
    }

    @Test
    void anAttemptThatContinuesACrashedOneHasTheRestOfItsTime() {
        TaskId id = add("long");
        var first = assign(id);
        start(first);
        pass(Duration.ofMinutes(50));
        crash(first);
        pass(Duration.ofMinutes(1));
        dispatch.expire();
        var second = assign(id);
        start(second);

        assertThat(continued(second)).isEqualTo(first.attempt().run());
        pass(Duration.ofMinutes(9));
        dispatch.expire();
        assertThat(stopCode(second)).isEmpty();
        pass(Duration.ofMinutes(1));
        dispatch.expire();
        assertThat(stopCode(second)).contains("time_limit");
    }

    @Test
    void aRetryByRequestStartsAnew() {
        var plan =
                TaskPlan.of(Optional.of(PROGRAM)).with(new TaskSchedule(TaskPriority.MEDIUM, Optional.empty(), Duration.ofHours(1), Optional.empty(), 0));
        TaskId id = queue.add(ANN, List.of(task("once", plan))).getFirst();
        crash(assign(id));
        assertThat(status(id)).isEqualTo(FAILED);
        queue.retry(id);

        assertThat(continued(assign(id))).isEmpty();
    }
}
