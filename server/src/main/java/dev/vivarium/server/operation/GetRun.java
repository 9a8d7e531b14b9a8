package dev.vivarium.server.operation;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Task;
import java.util.List;
import java.util.Optional;

/// Operation that finds a sandbox, running or ended, with its run and its latest events. Thread-safe.
public final class GetRun {
    private static final int RECENT = 50;

    private final Sandboxes sandboxes;
    private final Runs runs;
    private final Tasks tasks;
    private final EventLog log;
    private final RunFiles files;

    public GetRun(Sandboxes sandboxes, Runs runs, Tasks tasks, EventLog log) {
        this.sandboxes = sandboxes;
        this.runs = runs;
        this.tasks = tasks;
        this.log = log;
        this.files = new RunFiles(log);
    }

    /// @param recent the latest events, oldest first
    public record Result(SandboxInfo sandbox, Optional<Run> run, Optional<Task> task, List<Event> recent) {}

    private Task withFiles(Run run, Task task) {
        return task.withResult(task.result().map(result -> files.withFiles(run, result)));
    }

    public Result get(SandboxId id) {
        SandboxInfo sandbox = sandboxes
                .find(id)
                .map(one -> one.info())
                .or(() -> sandboxes.findEnded(id))
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchSandbox(id.value(), Optional.empty())));
        var run = runs.find(id);
        var task = run.map(Run::task).flatMap(tasks::find).map(found -> withFiles(run.get(), found));
        var recent = log.read(id, Query.after(Math.max(0, log.head(id) - RECENT), RECENT));
        return new Result(sandbox, run, task, recent);
    }
}
