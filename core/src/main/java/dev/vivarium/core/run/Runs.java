package dev.vivarium.core.run;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.Usage;
import dev.vivarium.model.UserId;
import java.util.List;
import java.util.Optional;

/// The book of runs: which there are, how they stand, and what they cost. Thread-safe.
public final class Runs {
    private final Db db;

    public Runs(Db db) {
        this.db = db;
    }

    /// The newest run of a sandbox, if it has had one.
    public Optional<Run> find(SandboxId sandbox) {
        return db.read(sql -> RunRows.find(sql, sandbox));
    }

    /// The run that is going on in a sandbox. Fails with `no-run` when there is none.
    public Run requireActive(SandboxId sandbox) {
        return find(sandbox)
                .filter(Run::isActive)
                .orElseThrow(() -> new SandboxException(
                        new Failure.Unrecognized("no-run", 409, "no agent runs in sandbox " + sandbox)));
    }

    /// The newest `limit` runs; of one owner, of one task, or of all.
    public List<Run> newest(Optional<UserId> owner, Optional<TaskId> task, int limit) {
        return db.read(sql -> RunRows.newest(sql, owner, task, limit));
    }

    /// Adds what one answer of a model took to the run of a sandbox, also if it has just ended: it was used.
    /// Returns what the run may still cost.
    public Allowance charge(SandboxId sandbox, Usage usage) {
        Run run = db.write(sql -> {
            Run charged = RunRows.find(sql, sandbox)
                    .orElseThrow(() -> new SandboxException(
                            new Failure.Unrecognized("no-run", 409, "no agent ran in sandbox " + sandbox)));
            RunRows.charge(sql, charged.id(), usage);
            return RunRows.find(sql, sandbox).orElse(charged);
        });
        return allowance(run);
    }

    /// What the run that is going on in a sandbox may cost, and has. Fails with `no-run` when there is none.
    public Allowance allowance(SandboxId sandbox) {
        return allowance(requireActive(sandbox));
    }

    private static Allowance allowance(Run run) {
        return new Allowance(run.budgetUsd(), run.spent().costUsd());
    }
}
