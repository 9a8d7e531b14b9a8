package dev.vivarium.json;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.AlertEvent;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.ConductorEvent;
import dev.vivarium.model.DeliveryId;
import dev.vivarium.model.End;
import dev.vivarium.model.EventBody;
import dev.vivarium.model.Exit;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.FileEvent;
import dev.vivarium.model.GitEvent;
import dev.vivarium.model.GuardianEvent;
import dev.vivarium.model.Judgement;
import dev.vivarium.model.Message;
import dev.vivarium.model.MessageEvent;
import dev.vivarium.model.ProcessEvent;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.ReviewEvent;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Task;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskEvent;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.Usage;
import dev.vivarium.model.UserId;
import dev.vivarium.model.WebhookId;
import dev.vivarium.model.WorkerEvent;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Reader of the data of stored events. Stateless.
final class EventBodyReader {
    private EventBodyReader() {}

    /// Returns the event. Throws a runtime exception if the data does not have the fields of the type.
    static EventBody read(String type, String text) {
        JsonFields data = Json.answer(text);
        return switch (type) {
            case "sandbox.started" -> sandboxStarted(data);
            case "sandbox.paused" -> new SandboxEvent.Paused(data.string("reason"), data.string("detail"));
            case "sandbox.resumed" -> new SandboxEvent.Resumed(data.string("reason"), data.string("detail"));
            case "sandbox.hibernated" ->
                new SandboxEvent.Hibernated(data.string("reason"), data.string("detail"), data.time("kept_until"));
            case "sandbox.woken" -> new SandboxEvent.Woken(millis(data, "took_ms"));
            case "sandbox.recovered" -> new SandboxEvent.Recovered(data.string("how"));
            case SandboxEvent.TERMINATED ->
                new SandboxEvent.Terminated(label(End.Cause.class, data, "reason"), data.optionalString("detail"));
            case "sandbox.metrics" -> metrics(data);
            case CommandEvent.STARTED -> commandStarted(data);
            case CommandEvent.OUTPUT -> output(data);
            case CommandEvent.COMPLETED -> commandCompleted(data);
            case ProcessEvent.FOLDED -> new ProcessEvent.Folded((int) data.integer("processes"));
            case "file.created" -> changed(FileEvent.Kind.CREATED, data);
            case "file.modified" -> changed(FileEvent.Kind.MODIFIED, data);
            case "file.deleted" -> changed(FileEvent.Kind.DELETED, data);
            case "file.changes_folded" -> folded(data);
            case "file.watch_degraded" -> new FileEvent.WatchDegraded((int) data.integer("interval_seconds"));
            case "sandbox.run_started" ->
                new RunEvent.Started(run(data), task(data), label(Run.Runtime.class, data, "runtime"));
            case "sandbox.run_ended" -> runEnded(data);
            case "agent.model_call_started" -> new RunEvent.ModelCallStarted(data.string("model"));
            case "agent.model_call" -> modelCalled(data);
            case "agent.review_requested" -> reviewRequested(data);
            case "user.approve", "user.reject" -> reviewAnswered(data);
            case "sandbox.review_expired" -> reviewExpired(data);
            case "user.message_delivered" -> delivered(data);
            case TaskEvent.STUCK -> stuck(data);
            case "guardian.observed", "guardian.nudged", "guardian.paused", "guardian.stopped" -> found(type, data);
            case "guardian.outcome" ->
                new GuardianEvent.Outcome(run(data), task(data), pattern(data), data.flag("ended"));
            case "guardian.judged" -> judged(data);
            case "conductor.report" -> report(data);
            default -> readOfOtherFamily(type, text, data);
        };
    }

    private static EventBody readOfOtherFamily(String type, String text, JsonFields data) {
        if (LivenessEventJson.TYPES.contains(type)) {
            return LivenessEventJson.read(type, data);
        }
        return type.startsWith(TaskEvent.PREFIX) ? taskChanged(type, data) : readOfGit(type, text, data);
    }

    private static EventBody readOfGit(String type, String text, JsonFields data) {
        return switch (type) {
            case "git.cloned" ->
                new GitEvent.Cloned(
                        run(data),
                        data.string("url"),
                        data.string("base"),
                        data.string("branch"),
                        millis(data, "took_ms"));
            case "git.pushed" -> new GitEvent.Pushed(run(data), data.string("branch"), data.string("commit"));
            case "git.pull_request" ->
                new GitEvent.PullRequested(
                        run(data), data.string("branch"), data.integer("number"), data.string("url"));
            case "git.failed" -> new GitEvent.Failed(run(data), data.string("branch"), data.string("reason"));
            default -> readOfNotification(type, text, data);
        };
    }

    private static EventBody readOfNotification(String type, String text, JsonFields data) {
        return switch (type) {
            case "review.reminder" -> new ReviewEvent.Reminder(review(data), data.time("deadline"));
            case "review.escalated" -> new ReviewEvent.Escalated(review(data), data.time("deadline"));
            case "anomaly.detected" -> anomaly(data);
            case "webhook.dead" -> webhookDead(data);
            default -> readSent(type, text, data);
        };
    }

    /// Reads an event that a worker or a user may send.
    private static EventBody readSent(String type, String text, JsonFields data) {
        return switch (type) {
            case "agent.tool_use" -> new WorkerEvent.ToolUsed();
            case WorkerEvent.USAGE ->
                new WorkerEvent.UsageReported(
                        data.optionalInteger("input_tokens").orElse(0L),
                        data.optionalInteger("output_tokens").orElse(0L),
                        BigDecimal.valueOf(data.optionalNumber("cost_usd").orElse(0)));
            case "agent.transcript" -> new WorkerEvent.ConversationNamed(data.string("session_id"));
            case "agent.completed" -> new WorkerEvent.Completed(textOrEmpty(data, "summary"));
            case "agent.failed" -> workerFailed(data);
            default ->
                MessageEvent.kindOf(type)
                        .<EventBody>map(kind -> posted(kind, data))
                        .orElseGet(() -> new EventBody.Custom(type, text));
        };
    }

    /// Returns "" if the text is invalid, because the judgement of an agent counts without it.
    /// The cost is the server's: a worker may send a wrong one or none.
    private static WorkerEvent workerFailed(JsonFields data) {
        Optional<String> code = Optional.of(textOrEmpty(data, "reason_code")).filter(text -> !text.isEmpty());
        Optional<BigDecimal> cost;
        try {
            cost = data.optional("cost_usd", JsonType.DECIMAL);
        } catch (SandboxException e) {
            cost = Optional.empty();
        }
        return new WorkerEvent.Failed(textOrEmpty(data, "reason"), code, cost);
    }

    private static String textOrEmpty(JsonFields data, String name) {
        try {
            return data.optionalString(name).orElse("");
        } catch (SandboxException e) {
            return "";
        }
    }

    private static <E extends Enum<E>> E label(Class<E> type, JsonFields data, String name) {
        return Enum.valueOf(type, data.string(name).toUpperCase(Locale.ROOT));
    }

    private static Duration millis(JsonFields data, String name) {
        return Duration.ofMillis(data.integer(name));
    }

    private static RunId run(JsonFields data) {
        return new RunId(data.string("run_id"));
    }

    private static TaskId task(JsonFields data) {
        return new TaskId(data.string("task_id"));
    }

    private static ReviewId review(JsonFields data) {
        return new ReviewId(data.string("review_id"));
    }

    private static BigDecimal cost(JsonFields data) {
        return BigDecimal.valueOf(data.number("cost_usd")).stripTrailingZeros();
    }

    private static TaskEvent taskChanged(String type, JsonFields data) {
        var changed = new TaskEvent.Changed(
                task(data),
                label(Task.Status.class, data, "status"),
                data.string("title"),
                data.optionalInteger("attempt").map(Math::toIntExact),
                data.optionalString("run_id").map(RunId::new),
                data.optionalString("reason"),
                data.optionalString("error_class").map(_ -> label(TaskError.Kind.class, data, "error_class")),
                data.optionalTime("next_attempt_at"));
        require(changed.type().equals(type), "status", "must be that of the type");
        return changed;
    }

    private static TaskEvent stuck(JsonFields data) {
        return new TaskEvent.Stuck(
                data.findStrings("task_ids").orElse(List.of()).stream()
                        .map(TaskId::new)
                        .toList(),
                Math.toIntExact(data.integer("waiting")),
                data.string("reason"),
                data.optionalString("diagnostic_task_id").map(TaskId::new));
    }

    private static SandboxEvent sandboxStarted(JsonFields data) {
        return new SandboxEvent.Started(
                new ThreadId(data.string("thread_id")),
                new UserId(data.string("user_id")),
                data.string("origin"),
                millis(data, "took_ms"));
    }

    private static SandboxEvent metrics(JsonFields data) {
        return new SandboxEvent.Metrics(
                data.number("cpu_percent"),
                data.number("cpu_limit_percent"),
                data.integer("memory_bytes"),
                data.integer("memory_limit_bytes"),
                data.integer("processes"),
                data.integer("processes_limit"),
                data.integer("disk_bytes"),
                data.integer("disk_limit_bytes"),
                data.integer("oom_kills"));
    }

    private static CommandEvent.Target target(JsonFields data) {
        return new CommandEvent.Target(
                (int) data.integer("pid"), data.optionalString("process_id"), data.optionalString("session_id"));
    }

    private static CommandEvent output(JsonFields data) {
        return new CommandEvent.Output(
                target(data),
                new CommandEvent.Text(data.optionalString("stdout"), data.optionalInteger("stdout_end")),
                new CommandEvent.Text(data.optionalString("stderr"), data.optionalInteger("stderr_end")),
                data.optionalInteger("folded_bytes").orElse(0L));
    }

    private static EventBody commandStarted(JsonFields data) {
        String line = data.string("command");
        return isProcess(data)
                ? new ProcessEvent.Started((int) data.integer("pid"), line)
                : new CommandEvent.Started(target(data), label(ProcessInfo.Kind.class, data, "kind"), line);
    }

    private static boolean isProcess(JsonFields data) {
        return data.optionalString("kind").filter(ProcessEvent.KIND::equals).isPresent();
    }

    private static EventBody commandCompleted(JsonFields data) {
        var cause = label(Exit.Cause.class, data, "cause");
        if (isProcess(data)) {
            return new ProcessEvent.Completed(
                    (int) data.integer("pid"), cause, (int) data.integer("exit_code"), millis(data, "duration_ms"));
        }
        return new CommandEvent.Completed(
                target(data),
                cause,
                data.optionalInteger("exit_code")
                        .map(code -> new CommandEvent.Result(
                                code.intValue(),
                                millis(data, "duration_ms"),
                                data.integer("stdout_bytes"),
                                data.integer("stderr_bytes"))));
    }

    private static FileEvent changed(FileEvent.Kind kind, JsonFields data) {
        return new FileEvent.Changed(
                kind,
                data.string("path"),
                metadata(data),
                data.optionalInteger("files").orElse(0L).intValue(),
                new FileEvent.Diff(
                        data.optionalString("diff"), flag(data, "diff_truncated"), flag(data, "diff_omitted")));
    }

    private static Optional<FileEvent.Metadata> metadata(JsonFields data) {
        if (flag(data, "directory")) {
            return Optional.of(new FileEvent.Metadata(FileEntry.Type.DIRECTORY, 0, Optional.empty()));
        }
        if (data.has("type")) {
            return Optional.of(new FileEvent.Metadata(label(FileEntry.Type.class, data, "type"), 0, Optional.empty()));
        }
        return data.optionalInteger("size")
                .map(size -> new FileEvent.Metadata(FileEntry.Type.FILE, size, data.optionalString("sha256")));
    }

    private static boolean flag(JsonFields data, String name) {
        return data.optionalFlag(name).orElse(false);
    }

    private static FileEvent folded(JsonFields data) {
        return new FileEvent.Folded(
                (int) data.integer("created"),
                (int) data.integer("modified"),
                (int) data.integer("deleted"),
                data.optionalStrings("directories").orElseThrow(),
                flag(data, "incomplete"));
    }

    private static RunEvent runEnded(JsonFields data) {
        return new RunEvent.Ended(
                run(data),
                task(data),
                label(Run.Status.class, data, "status"),
                data.optionalString("reason"),
                data.optionalString("reason_code"),
                new RunEvent.Total(cost(data), data.integer("tokens"), data.integer("tool_calls")));
    }

    private static RunEvent modelCalled(JsonFields data) {
        var usage = new Usage(
                data.string("model"),
                data.integer("input_tokens"),
                data.integer("output_tokens"),
                data.integer("cache_read_tokens"),
                data.integer("cache_write_tokens"),
                cost(data));
        return new RunEvent.ModelCalled(
                usage, millis(data, "duration_ms"), (int) data.integer("status"), data.flag("estimated"));
    }

    private static ReviewEvent reviewRequested(JsonFields data) {
        return new ReviewEvent.Requested(
                review(data),
                task(data),
                data.string("reason"),
                data.string("description"),
                data.object("context").text(),
                data.flag("blocking"),
                data.time("deadline"));
    }

    private static ReviewEvent reviewAnswered(JsonFields data) {
        return new ReviewEvent.Answered(
                review(data),
                data.string("decision"),
                data.optionalString("comment"),
                new UserId(data.string("user_id")));
    }

    private static ReviewEvent reviewExpired(JsonFields data) {
        return new ReviewEvent.Expired(
                review(data),
                data.time("deadline"),
                data.optionalString("on_timeout").map(_ -> label(ReviewPolicy.OnTimeout.class, data, "on_timeout")));
    }

    private static AlertEvent anomaly(JsonFields data) {
        return new AlertEvent.AnomalyDetected(
                data.string("scope"),
                data.string("metric"),
                data.number("value"),
                data.number("baseline"),
                data.number("deviation"),
                data.integer("samples"),
                data.optionalString("run_id").map(RunId::new),
                data.optionalString("task_id").map(TaskId::new));
    }

    private static AlertEvent webhookDead(JsonFields data) {
        return new AlertEvent.WebhookDead(
                new WebhookId(data.string("webhook_id")),
                new DeliveryId(data.string("delivery_id")),
                data.string("event_type"),
                Math.toIntExact(data.integer("attempts")),
                data.string("error"));
    }

    private static MessageEvent posted(Message.Kind kind, JsonFields data) {
        var mode = label(Message.Mode.class, data, "inject_mode");
        return new MessageEvent.Posted(data.string("message_id"), kind, data.string("content"), mode);
    }

    private static MessageEvent delivered(JsonFields data) {
        return new MessageEvent.Delivered(
                data.string("message_id"), label(Message.Kind.class, data, "message_type"), millis(data, "latency_ms"));
    }

    private static GuardianEvent found(String type, JsonFields data) {
        var found = new GuardianEvent.Found(
                run(data), task(data), pattern(data), label(GuardianEvent.Action.class, data, "action"));
        require(found.type().equals(type), "action", "must be that of the type");
        return found;
    }

    private static GuardianEvent.Pattern pattern(JsonFields data) {
        return new GuardianEvent.Pattern(
                data.string("rule"), data.string("summary"), data.required("evidence", JsonType.list(JsonType.LONG)));
    }

    private static GuardianEvent judged(JsonFields data) {
        var judgement = new Judgement(
                data.number("alignment"),
                label(Judgement.State.class, data, "state"),
                data.string("message"),
                data.number("confidence"));
        return new GuardianEvent.Judged(run(data), task(data), judgement);
    }

    private static ConductorEvent report(JsonFields data) {
        return new ConductorEvent.Report(
                (int) data.integer("runs"),
                data.number("coherence"),
                data.objects("overlaps").stream().map(EventBodyReader::overlap).toList());
    }

    private static ConductorEvent.Overlap overlap(JsonFields data) {
        return new ConductorEvent.Overlap(
                label(ConductorEvent.Kind.class, data, "kind"),
                new RunId(data.string("earlier_run_id")),
                new RunId(data.string("later_run_id")),
                data.string("summary"),
                data.optionalStrings("files").orElseThrow());
    }
}
