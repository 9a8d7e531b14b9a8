package dev.vivarium.core.run;

import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/// Runs without workers, for tests of packages above this one. Thread-safe.
public record RunFixture(Runs runs) {
    /// Starts a run for a task in a sandbox that has only a row for its run.
    public Run start(int number, UserId owner, NewTask task, Run.Runtime runtime, Optional<GuardianPolicy> policy) {
        SandboxInfo sandbox = info(number, owner);
        var wanted = new NewRun(
                new NewRun.Assignment.Fresh(task),
                new Run.Program(runtime, List.of(), Optional.empty()),
                NewSandbox.of(owner, sandbox.thread()),
                Optional.of(new BigDecimal("1")),
                Optional.empty(),
                policy,
                Optional.empty());
        return runs.started(runs.named(runs.begin(sandbox, wanted, RunOrigin.NONE, true), "p1"));
    }

    public void hold(SandboxId sandbox) {
        runs.hold(sandbox);
    }

    public void release(SandboxId sandbox) {
        runs.resumeAgent(sandbox);
    }

    public void end(Run run) {
        runs.end(run, Run.Status.COMPLETED, Optional.empty(), ReasonCode.COMPLETED);
    }

    private static SandboxInfo info(int seed, UserId owner) {
        Instant now = Instant.EPOCH;
        return new SandboxInfo(
                SandboxId.random(new Random(seed)),
                new ThreadId("thread" + seed),
                owner,
                Status.RUNNING,
                Limits.STANDARD,
                now,
                now,
                now,
                now,
                OnIdle.END,
                Optional.empty(),
                Optional.empty());
    }
}
