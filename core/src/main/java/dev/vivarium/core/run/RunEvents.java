package dev.vivarium.core.run;

import dev.vivarium.core.log.AppendResult;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.EventReader;
import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.WorkerEvent;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The events of workers, applied to the state of their runs by a durable reader of the log. Each event counts exactly
/// once, because its effect and the reader's cursor are stored in one transaction. Thread-safe.
public final class RunEvents {
    private final EventLog log;
    private final EventReader reader;

    /// Starts the reader; the log closes it.
    public RunEvents(EventLog log, Runs runs) {
        this.log = log;
        this.reader = log.reader("runs", new Handler(runs, log.codec()));
    }

    /// Appends events of the worker at a task, and returns when they are durable and applied to the run.
    public List<AppendResult> append(SandboxId sandbox, TaskId task, List<NewEvent> events) {
        List<AppendResult> appended = log.append(
                sandbox, events.stream().map(event -> event.from(task)).toList());
        if (events.stream().anyMatch(event -> WorkerEvent.TYPES.contains(event.type()))) {
            reader.await(sandbox);
        }
        return appended;
    }

    /// Appends `agent.failed` for a run whose worker could not.
    void fail(Run run, RunOutcome failure) {
        var body = new WorkerEvent.Failed(
                failure.text(),
                Optional.of(failure.code()),
                Optional.of(run.spent().costUsd()));
        log.append(
                run.sandbox(),
                new NewEvent(Optional.of(NewEvent.OUR_IDS + run.id() + "." + body.type()), body, NewEvent.OURS));
    }

    /// Waits until the events that were appended before this call are applied.
    void await(SandboxId sandbox) {
        reader.await(sandbox);
    }

    private record Handler(Runs runs, EventCodec codec) implements EventReader.Handler {
        @Override
        public Set<String> types() {
            return WorkerEvent.TYPES;
        }

        /// An event that no worker sent, such as a user's, does not change a run.
        @Override
        public void handle(Sql sql, Event event) throws SQLException {
            if (event.logId() instanceof SandboxId sandbox
                    && event.task().isPresent()
                    && codec.decode(event) instanceof WorkerEvent body) {
                runs.apply(sql, sandbox, event.task().get(), body);
            }
        }

        @Override
        public void committed(Event event) {
            if (event.logId() instanceof SandboxId sandbox && event.type().equals(WorkerEvent.USAGE)) {
                runs.enforceBudget(sandbox);
            }
        }
    }
}
