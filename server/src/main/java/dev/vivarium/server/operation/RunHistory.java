package dev.vivarium.server.operation;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.run.RunFilter;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Event;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskId;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// Operation that finds runs by their ids, also those of sandboxes that have ended. Thread-safe.
public final class RunHistory {
    /// Number of events of each family in a transcript.
    private static final int MAX_EVENTS = 500;

    /// Events of agents that are not part of the conversation.
    private static final Set<String> ACCOUNTING = Set.of("agent.model_call", "agent.model_call_started", "agent.usage");

    private final Sandboxes sandboxes;
    private final Runs runs;
    private final Tasks tasks;
    private final EventLog log;
    private final Rights rights;
    private final RunFiles files;

    public RunHistory(Sandboxes sandboxes, Runs runs, Tasks tasks, EventLog log, Rights rights) {
        this.sandboxes = sandboxes;
        this.runs = runs;
        this.tasks = tasks;
        this.log = log;
        this.rights = rights;
        this.files = new RunFiles(log);
    }

    /// Conversation of a run in the log of its sandbox, oldest event first. Immutable.
    ///
    /// @param afterSeq number of the event that started the run
    /// @param untilSeq number of the event that ended the run
    public record Transcript(long afterSeq, Optional<Long> untilSeq, List<Event> events) {}

    /// A run with everything that the server stores about it. Immutable.
    public record Details(
            Run run, Optional<Task> task, Optional<String> result, Optional<Transcript> transcript, Scopes scopes) {}

    /// Returns the newest runs of the caller. If the filter has a thread, also those of its live sandbox that the
    /// caller may watch.
    public List<Run> list(Principal caller, RunFilter filter) {
        var wanted = filter.thread().isPresent()
                ? filter
                : new RunFilter(
                        caller.user(),
                        filter.thread(),
                        filter.task(),
                        filter.status(),
                        filter.before(),
                        filter.limit());
        return runs.list(wanted).stream()
                .filter(run -> scopes(caller, run)
                        .filter(scopes -> scopes.allows(Scope.SHELL_RO))
                        .isPresent())
                .toList();
    }

    public Map<TaskId, String> titles(List<Run> all) {
        return tasks.titles(all.stream().map(Run::task).toList());
    }

    public Details get(Principal caller, String id) {
        Run run = require(caller, id);
        return new Details(
                run,
                tasks.find(run.task()),
                runs.result(run.id()).map(result -> files.withFiles(run, result)),
                transcript(run),
                scopes(caller, run).orElseThrow());
    }

    /// A run that the caller may not watch counts as unknown.
    Run require(Principal caller, String id) {
        return Optional.of(id)
                .filter(RunId::isWellFormed)
                .flatMap(text -> runs.find(new RunId(text)))
                .filter(run -> scopes(caller, run)
                        .filter(scopes -> scopes.allows(Scope.SHELL_RO))
                        .isPresent())
                .orElseThrow(() -> new SandboxException(
                        new RunFailure.UnknownRun(id.length() <= 64 ? id : id.substring(0, 64) + "…")));
    }

    /// After the end of a sandbox, only its owner sees its runs.
    Optional<Scopes> scopes(Principal caller, Run run) {
        return caller.mayActFor(run.owner()) || sandboxes.find(run.sandbox()).isPresent()
                ? rights.of(caller, new Rights.Target(run.sandbox(), run.key()))
                : Optional.empty();
    }

    /// Returns nothing if the log no longer has the start of the run.
    private Optional<Transcript> transcript(Run run) {
        Optional<Long> start = Optional.empty();
        Optional<Long> end = Optional.empty();
        for (Event event : log.newest(run.sandbox(), "sandbox.run_", Query.MOST)) {
            switch (log.codec().decode(event)) {
                case RunEvent.Started started when started.run().equals(run.id()) -> start = Optional.of(event.seq());
                case RunEvent.Ended ended when ended.run().equals(run.id()) -> end = Optional.of(event.seq());
                default -> {}
            }
        }
        Optional<Long> until = end;
        return start.map(seq -> new Transcript(seq, until, events(run, seq, until.orElse(Long.MAX_VALUE))));
    }

    private List<Event> events(Run run, long after, long before) {
        return Stream.of("agent.", "user.", "guardian.")
                .map(type -> new Query(after, Optional.empty(), Optional.of(type), MAX_EVENTS))
                .flatMap(query -> log.readBefore(run.sandbox(), query, before).stream())
                .filter(event -> !ACCOUNTING.contains(event.type()))
                .sorted(Comparator.comparingLong(Event::seq))
                .toList();
    }
}
