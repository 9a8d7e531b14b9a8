package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.run.Money;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventBody;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.FileEvent;
import dev.vivarium.model.MessageEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.ProcessEvent;
import dev.vivarium.model.ReviewEvent;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.SandboxEvent;
import dev.vivarium.model.StepCodec;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ToolCall;
import dev.vivarium.model.ToolResult;
import dev.vivarium.model.WorkerEvent;
import java.util.Optional;
import java.util.Set;

/// Converter from events to steps. Thread-safe.
///
/// The tool calls of Claude and OpenHands are `agent.tool_use`. A program of the runtime `command` may report none, so
/// that its processes count as calls too.
final class Steps {
    /// Types of the events that can be steps.
    static final Set<String> TYPES = Set.of(
            "agent.tool_use",
            "agent.tool_result",
            "agent.error",
            "agent.model_call",
            WorkerEvent.USAGE,
            "command.started",
            "command.completed",
            "file.created",
            "file.modified",
            "file.deleted",
            "user.message",
            "user.guidance",
            "user.interrupt",
            "user.approve",
            "user.reject",
            "sandbox.resumed",
            "sandbox.review_expired");

    /// Name of the tool of a process.
    static final String PROCESS = "process";

    private static final String GATEWAY = "gateway";
    private static final String PRIVATE_DIRECTORY = ".vivarium";

    private final EventCodec events;
    private final StepCodec texts;

    Steps(EventCodec events, StepCodec texts) {
        this.events = events;
        this.texts = texts;
    }

    /// Returns the step of an event. Ignores events of unexpected sources, because every client with access to the
    /// sandbox can append events.
    Optional<Step> of(Event event, TaskId task, Run.Runtime runtime) {
        boolean isOfWorker = event.task().filter(task::equals).isPresent();
        return switch (event.type()) {
            case "agent.tool_use" ->
                isOfWorker
                        ? texts.call(event.data()).map(call -> new Step.Called(event.seq(), event.at(), call))
                        : Optional.empty();
            case "agent.tool_result" ->
                isOfWorker
                        ? texts.result(event.data()).map(result -> new Step.Returned(event.seq(), event.at(), result))
                        : Optional.empty();
            case "agent.error" ->
                isOfWorker
                        ? texts.problem(event.data()).map(text -> new Step.Problem(event.seq(), event.at(), text))
                        : Optional.empty();
            default -> decoded(event, events.decode(event), isOfWorker, runtime);
        };
    }

    private static Optional<Step> decoded(Event event, EventBody body, boolean isOfWorker, Run.Runtime runtime) {
        return switch (body) {
            case RunEvent.ModelCalled called
            when event.source().equals(GATEWAY) ->
                Optional.of(new Step.Modelled(
                        event.seq(), event.at(), Money.nanos(called.usage().costUsd())));
            case WorkerEvent.UsageReported total
            when isOfWorker && runtime == Run.Runtime.COMMAND ->
                Optional.of(new Step.Charged(event.seq(), event.at(), Money.nanos(total.costUsd())));
            case ProcessEvent process
            when runtime == Run.Runtime.COMMAND && isOf(event, NewEvent.KERNEL) -> process(event, process);
            case FileEvent.Changed changed when isOf(event, NewEvent.OURS) -> changed(event, changed);
            case MessageEvent.Posted _, ReviewEvent.Answered _, SandboxEvent.Resumed _ ->
                Optional.of(new Step.Guided(event.seq(), event.at()));
            default -> Optional.empty();
        };
    }

    private static boolean isOf(Event event, String source) {
        return event.source().equals(source);
    }

    private static Optional<Step> process(Event event, ProcessEvent process) {
        return switch (process) {
            case ProcessEvent.Started(int pid, String line) ->
                Optional.of(new Step.Called(
                        event.seq(),
                        event.at(),
                        new ToolCall(id(pid), PROCESS, "", Optional.of(line), Optional.empty(), Optional.empty())));
            case ProcessEvent.Completed(int pid, var _, int exitCode, var _) ->
                Optional.of(new Step.Returned(event.seq(), event.at(), new ToolResult(id(pid), exitCode != 0, "")));
            case ProcessEvent.Folded _ -> Optional.empty();
        };
    }

    private static String id(int pid) {
        return PROCESS + " " + pid;
    }

    private static Optional<Step> changed(Event event, FileEvent.Changed changed) {
        boolean isFile = changed.file()
                .filter(file -> file.type() != FileEntry.Type.FILE)
                .isEmpty();
        if (!isFile || changed.path().startsWith(PRIVATE_DIRECTORY)) {
            return Optional.empty();
        }
        return Optional.of(new Step.Changed(
                event.seq(),
                event.at(),
                changed.path(),
                changed.kind() == FileEvent.Kind.CREATED,
                changed.file().flatMap(FileEvent.Metadata::sha256)));
    }
}
