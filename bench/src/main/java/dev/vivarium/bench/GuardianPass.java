package dev.vivarium.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.vivarium.bench.Report.Row;
import dev.vivarium.core.ClockJumps;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.guard.trajectory.Guardian;
import dev.vivarium.core.guard.trajectory.GuardianActions;
import dev.vivarium.core.guard.trajectory.GuardianLimits;
import dev.vivarium.core.guard.trajectory.Judge;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.run.Outbox;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.RunSignals;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.json.StepJson;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// CPU time of one pass of the guardian over 500 active runs with 50 tool calls each, in the measuring process. The
/// program deletes the events of the log first, so that a pass can read none.
final class GuardianPass implements Measurement {
    private static final int RUNS = 500;
    private static final int CALLS = 50;
    private static final int WARM_UP = 10;
    private static final double MOST_MILLIS = 1000;
    private static final GuardianLimits LIMITS = new GuardianLimits(
            GuardianPolicy.STEER, Duration.ofDays(1), Duration.ofMinutes(2), 5, Duration.ofMinutes(10));

    private final Random random = new Random(1);

    @Override
    public void run(Bench bench, Report report) {
        InstantSource clock = InstantSource.system();
        try (var db = Db.sqlite(bench.newHome().resolve("guardian.db"));
                var audit = new Audit(db, 1000);
                var log = new EventLog(db, clock, new EventBodyJson());
                var guardian = guardian(db, log, audit, clock)) {
            guardian.start(log);
            fill(db, log);
            db.write(sql -> sql.update("delete from sandbox_events"));
            measure(bench, report, guardian);
            long left = db.read(sql -> sql.number("select count(*) from sandbox_events"));
            report.add(Row.of("guardian: events in the log during the passes", "", left)
                    .held("0", left == 0));
        }
    }

    private static Guardian guardian(Db db, EventLog log, Audit audit, InstantSource clock) {
        var outbox = new Outbox(db, log, clock);
        var signals = new RunSignals();
        var runs = new Runs(db, outbox, signals, clock, List.of());
        var reviews = new Reviews(
                db,
                outbox,
                signals,
                new ClockJumps(clock, System::nanoTime),
                ReviewPolicy.of(Duration.ofHours(1), ReviewPolicy.OnTimeout.REJECT));
        var actions = new GuardianActions(new Idle(), new Inbox(db, log, clock), reviews, audit, clock);
        var parts = new Guardian.Parts(db, log, outbox, runs, actions, new StepJson(), Judge.NONE);
        var lease = new DutyLease(db, "guardian", "bench", Duration.ofMinutes(1), clock);
        return new Guardian(parts, lease, LIMITS, clock);
    }

    /// Stores active runs with trajectories, and waits until the guardian has read them.
    private void fill(Db db, EventLog log) {
        for (int i = 0; i < RUNS; i++) {
            var sandbox = SandboxId.random(random);
            var run = RunId.random(random);
            var task = TaskId.random(random);
            insert(db, run, sandbox, task);
            var events = new ArrayList<NewEvent>();
            events.add(NewEvent.of(new RunEvent.Started(run, task, Run.Runtime.CLAUDE), NewEvent.OURS));
            for (int call = 0; call < CALLS; call++) {
                events.addAll(call(task, call));
            }
            log.append(sandbox, events);
        }
        String isRead = "select count(*) from guardian_trajectories where seq >= " + 2 * CALLS;
        while (db.read(sql -> sql.number(isRead)) < RUNS) {
            Programs.pause(Duration.ofMillis(100));
        }
    }

    private static void insert(Db db, RunId run, SandboxId sandbox, TaskId task) {
        db.write(sql -> sql.update(
                "insert into sandbox_runs (run_id, sandbox_id, task_id, user_id, thread_id, runtime, command, status,"
                        + " cost_nanos, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, tool_calls,"
                        + " wish, started_at) values (?, ?, ?, 'ann', 't', 'claude', '', 'running', 0, 0, 0, 0, 0, 0,"
                        + " 'run', ?)",
                run.value(),
                sandbox.value(),
                task.value(),
                InstantSource.system().millis()));
    }

    /// A command that succeeds, another one each time.
    private static List<NewEvent> call(TaskId task, int number) {
        String use =
                "{\"tool_use_id\":\"c%d\",\"tool_name\":\"Bash\",\"shell_command\":\"make part%d\",\"tool_input\":{}}";
        String result = "{\"tool_use_id\":\"c%d\",\"exit_code\":0,\"output\":\"part %d is built\",\"is_error\":false}";
        return List.of(
                NewEvent.of("agent.tool_use", use.formatted(number, number), "agent")
                        .from(task),
                NewEvent.of("agent.tool_result", result.formatted(number, number), "agent")
                        .from(task));
    }

    /// The CPU time is that of the process, so that it contains the threads of the store and the garbage collector.
    private static void measure(Bench bench, Report report, Guardian guardian) {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        var samples = new Samples();
        for (int round = -WARM_UP; round < bench.rounds(50); round++) {
            if (round == 0) {
                samples.clear();
                Quiet.await();
            }
            long before = system.getProcessCpuTime();
            guardian.pass();
            samples.add(system.getProcessCpuTime() - before);
        }
        report.add(Row.of("guardian: CPU of one pass over 500 runs", samples)
                .held("p99 at most 1 s", samples.p99() <= MOST_MILLIS));
    }

    /// Control of runs that have no workers.
    private static final class Idle implements GuardianActions.RunControl {
        @Override
        public void hold(SandboxId sandbox) {}

        @Override
        public void release(SandboxId sandbox) {}

        @Override
        public void stop(Run run, String reason) {}
    }
}
