package dev.vivarium.json;

import dev.vivarium.model.AlertEvent;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.ConductorEvent;
import dev.vivarium.model.EventBody;
import dev.vivarium.model.EventCodec;
import dev.vivarium.model.FileEvent;
import dev.vivarium.model.GitEvent;
import dev.vivarium.model.GuardianEvent;
import dev.vivarium.model.Judgement;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.MessageEvent;
import dev.vivarium.model.ProcessEvent;
import dev.vivarium.model.ReviewEvent;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.RunEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxEvent;
import dev.vivarium.model.TaskError;
import dev.vivarium.model.TaskEvent;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.Usage;
import dev.vivarium.model.WorkerEvent;
import java.io.StringWriter;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.SerializableString;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;

/// JSON form of the data of events. Stateless.
///
/// Logs outlive servers: a change of a field name or of the order of fields breaks clients.
public final class EventBodyJson implements EventCodec {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .characterEscapes(new Escapes())
            .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE)
            .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
            .build();

    /// Matches surrogates without their pair, because a pair is one code point.
    private static final Pattern UNPAIRED = Pattern.compile("[\\x{d800}-\\x{dfff}]");

    /// Escapes of stored events: `\b` and `\f` have no short form.
    private static final class Escapes extends CharacterEscapes {
        private static final long serialVersionUID = 1;

        private final int[] codes = standardAsciiEscapesForJSON();

        Escapes() {
            codes['\b'] = ESCAPE_STANDARD;
            codes['\f'] = ESCAPE_STANDARD;
        }

        @Override
        public int[] getEscapeCodesForAscii() {
            return codes;
        }

        @Override
        public @Nullable SerializableString getEscapeSequence(int c) {
            return null;
        }
    }

    @Override
    public String encode(EventBody body) {
        if (body instanceof EventBody.Custom(var _, String data)) {
            return data;
        }
        var text = new StringWriter();
        try (JsonGenerator out = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
            out.writeStartObject();
            switch (body) {
                case SandboxEvent event -> write(out, event);
                case CommandEvent event -> write(out, event);
                case ProcessEvent event -> write(out, event);
                case FileEvent event -> write(out, event);
                case RunEvent event -> write(out, event);
                case LivenessEvent event -> LivenessEventJson.write(out, event);
                case TaskEvent event -> write(out, event);
                case GitEvent event -> write(out, event);
                case ReviewEvent event -> write(out, event);
                case MessageEvent event -> write(out, event);
                case GuardianEvent event -> write(out, event);
                case ConductorEvent event -> write(out, event);
                case AlertEvent event -> write(out, event);
                case WorkerEvent event -> write(out, event);
                case EventBody.Custom _ -> {}
            }
            out.writeEndObject();
        }
        // UTF-8 cannot represent an unpaired surrogate. A truncated text can end with one.
        return UNPAIRED.matcher(text.getBuffer())
                .replaceAll(found ->
                        "\\\\u" + HexFormat.of().toHexDigits(found.group().charAt(0)));
    }

    private static void write(JsonGenerator out, SandboxEvent event) {
        switch (event) {
            case SandboxEvent.Started(var thread, var user, var origin, var took) -> {
                out.writeStringProperty("thread_id", thread.value());
                out.writeStringProperty("user_id", user.value());
                out.writeStringProperty("origin", origin);
                out.writeNumberProperty("took_ms", took.toMillis());
            }
            case SandboxEvent.Paused(var reason, var detail) -> reason(out, reason, Optional.of(detail));
            case SandboxEvent.Resumed(var reason, var detail) -> reason(out, reason, Optional.of(detail));
            case SandboxEvent.Hibernated(var reason, var detail, var keptUntil) -> {
                reason(out, reason, Optional.of(detail));
                out.writeStringProperty("kept_until", keptUntil.toString());
            }
            case SandboxEvent.Woken(var took) -> out.writeNumberProperty("took_ms", took.toMillis());
            case SandboxEvent.Recovered(var how) -> out.writeStringProperty("how", how);
            case SandboxEvent.Terminated(var cause, var detail) -> reason(out, cause.text(), detail);
            case SandboxEvent.Metrics metrics -> {
                out.writeNumberProperty("cpu_percent", metrics.cpuPercent());
                out.writeNumberProperty("cpu_limit_percent", metrics.cpuLimitPercent());
                out.writeNumberProperty("memory_bytes", metrics.memoryBytes());
                out.writeNumberProperty("memory_limit_bytes", metrics.memoryLimitBytes());
                out.writeNumberProperty("processes", metrics.processes());
                out.writeNumberProperty("processes_limit", metrics.processesLimit());
                out.writeNumberProperty("disk_bytes", metrics.diskBytes());
                out.writeNumberProperty("disk_limit_bytes", metrics.diskLimitBytes());
                out.writeNumberProperty("oom_kills", metrics.oomKills());
            }
        }
    }

    private static void reason(JsonGenerator out, String reason, Optional<String> detail) {
        out.writeStringProperty("reason", reason);
        optional(out, "detail", detail);
    }

    private static void optional(JsonGenerator out, String name, Optional<String> text) {
        text.ifPresent(value -> out.writeStringProperty(name, value));
    }

    private static void write(JsonGenerator out, CommandEvent event) {
        out.writeNumberProperty("pid", event.target().pid());
        optional(out, "process_id", event.target().process());
        optional(out, "session_id", event.target().session());
        switch (event) {
            case CommandEvent.Started(var _, var kind, var line) -> {
                out.writeStringProperty("kind", kind.text());
                out.writeStringProperty("command", line);
            }
            case CommandEvent.Output(var _, var stdout, var stderr, var omitted) -> {
                write(out, "stdout", stdout);
                write(out, "stderr", stderr);
                if (omitted > 0) {
                    out.writeNumberProperty("folded_bytes", omitted);
                }
            }
            case CommandEvent.Completed(var _, var cause, var result) -> {
                result.ifPresent(some -> out.writeNumberProperty("exit_code", some.exitCode()));
                out.writeStringProperty("cause", cause.text());
                result.ifPresent(some -> {
                    out.writeNumberProperty("duration_ms", some.took().toMillis());
                    out.writeNumberProperty("stdout_bytes", some.stdoutBytes());
                    out.writeNumberProperty("stderr_bytes", some.stderrBytes());
                });
            }
        }
    }

    private static void write(JsonGenerator out, ProcessEvent event) {
        switch (event) {
            case ProcessEvent.Started(var pid, var line) -> {
                out.writeNumberProperty("pid", pid);
                out.writeStringProperty("kind", ProcessEvent.KIND);
                out.writeStringProperty("command", line);
            }
            case ProcessEvent.Completed(var pid, var cause, var exitCode, var took) -> {
                out.writeNumberProperty("pid", pid);
                out.writeStringProperty("kind", ProcessEvent.KIND);
                out.writeNumberProperty("exit_code", exitCode);
                out.writeStringProperty("cause", cause.text());
                out.writeNumberProperty("duration_ms", took.toMillis());
            }
            case ProcessEvent.Folded(var processes) -> out.writeNumberProperty("processes", processes);
        }
    }

    private static void write(JsonGenerator out, String stream, CommandEvent.Text output) {
        optional(out, stream, output.text());
        output.end().ifPresent(end -> out.writeNumberProperty(stream + "_end", end));
    }

    private static void write(JsonGenerator out, FileEvent event) {
        switch (event) {
            case FileEvent.Changed(var kind, var path, var file, var below, var diff) -> {
                out.writeStringProperty("path", path);
                out.writeStringProperty("action", kind.text());
                file.ifPresent(metadata -> write(out, metadata));
                if (below > 0) {
                    out.writeNumberProperty("files", below);
                }
                optional(out, "diff", diff.text());
                flag(out, "diff_truncated", diff.truncated());
                flag(out, "diff_omitted", diff.omitted());
            }
            case FileEvent.Folded(var created, var modified, var deleted, var directories, var incomplete) -> {
                out.writeNumberProperty("created", created);
                out.writeNumberProperty("modified", modified);
                out.writeNumberProperty("deleted", deleted);
                out.writeArrayPropertyStart("directories");
                directories.forEach(out::writeString);
                out.writeEndArray();
                flag(out, "incomplete", incomplete);
            }
            case FileEvent.WatchDegraded(var interval) -> out.writeNumberProperty("interval_seconds", interval);
        }
    }

    private static void write(JsonGenerator out, FileEvent.Metadata file) {
        switch (file.type()) {
            case FILE -> {
                out.writeNumberProperty("size", file.size());
                optional(out, "sha256", file.sha256());
            }
            case DIRECTORY -> out.writeBooleanProperty("directory", true);
            case LINK, FIFO, SOCKET, CHARACTER_DEVICE, BLOCK_DEVICE, OTHER ->
                out.writeStringProperty("type", file.type().text());
        }
    }

    private static void flag(JsonGenerator out, String name, boolean isSet) {
        if (isSet) {
            out.writeBooleanProperty(name, true);
        }
    }

    private static void write(JsonGenerator out, RunEvent event) {
        switch (event) {
            case RunEvent.Started(var run, var task, var runtime) -> {
                out.writeStringProperty("run_id", run.value());
                out.writeStringProperty("task_id", task.value());
                out.writeStringProperty("runtime", runtime.text());
            }
            case RunEvent.Ended(var run, var task, var status, var reason, var code, var total) -> {
                out.writeStringProperty("run_id", run.value());
                out.writeStringProperty("task_id", task.value());
                out.writeStringProperty("status", status.text());
                optional(out, "reason", reason);
                optional(out, "reason_code", code);
                out.writeNumberProperty("cost_usd", total.costUsd());
                out.writeNumberProperty("tokens", total.tokens());
                out.writeNumberProperty("tool_calls", total.toolCalls());
            }
            case RunEvent.ModelCallStarted(var model) -> out.writeStringProperty("model", model);
            case RunEvent.ModelCalled(Usage usage, var took, var status, var estimated) -> {
                out.writeStringProperty("model", usage.model());
                out.writeNumberProperty("input_tokens", usage.inputTokens());
                out.writeNumberProperty("output_tokens", usage.outputTokens());
                out.writeNumberProperty("cache_read_tokens", usage.cacheReadTokens());
                out.writeNumberProperty("cache_write_tokens", usage.cacheWriteTokens());
                out.writeNumberProperty("cost_usd", usage.costUsd());
                out.writeNumberProperty("duration_ms", took.toMillis());
                out.writeNumberProperty("status", status);
                out.writeBooleanProperty("estimated", estimated);
            }
        }
    }

    private static void write(JsonGenerator out, GitEvent event) {
        switch (event) {
            case GitEvent.Cloned(var run, var url, var base, var branch, var took) -> {
                out.writeStringProperty("run_id", run.value());
                out.writeStringProperty("url", url);
                out.writeStringProperty("base", base);
                out.writeStringProperty("branch", branch);
                out.writeNumberProperty("took_ms", took.toMillis());
            }
            case GitEvent.Pushed(var run, var branch, var commit) -> {
                out.writeStringProperty("run_id", run.value());
                out.writeStringProperty("branch", branch);
                out.writeStringProperty("commit", commit);
            }
            case GitEvent.PullRequested(var run, var branch, var number, var url) -> {
                out.writeStringProperty("run_id", run.value());
                out.writeStringProperty("branch", branch);
                out.writeNumberProperty("number", number);
                out.writeStringProperty("url", url);
            }
            case GitEvent.Failed(var run, var branch, var reason) -> {
                out.writeStringProperty("run_id", run.value());
                out.writeStringProperty("branch", branch);
                out.writeStringProperty("reason", reason);
            }
        }
    }

    private static void write(JsonGenerator out, TaskEvent event) {
        switch (event) {
            case TaskEvent.Changed changed -> {
                out.writeStringProperty("task_id", changed.task().value());
                out.writeStringProperty("status", changed.status().text());
                out.writeStringProperty("title", changed.title());
                changed.attempt().ifPresent(number -> out.writeNumberProperty("attempt", number));
                changed.run().ifPresent(run -> out.writeStringProperty("run_id", run.value()));
                optional(out, "reason", changed.reason());
                optional(out, "error_class", changed.errorClass().map(TaskError.Kind::text));
                optional(out, "next_attempt_at", changed.nextAttemptAt().map(Instant::toString));
            }
            case TaskEvent.Stuck(var lost, var waiting, var reason, var diagnostic) -> {
                out.writeArrayPropertyStart("task_ids");
                lost.forEach(task -> out.writeString(task.value()));
                out.writeEndArray();
                out.writeNumberProperty("waiting", waiting);
                out.writeStringProperty("reason", reason);
                optional(out, "diagnostic_task_id", diagnostic.map(TaskId::value));
            }
        }
    }

    private static void write(JsonGenerator out, ReviewEvent event) {
        switch (event) {
            case ReviewEvent.Requested asked -> {
                out.writeStringProperty("review_id", asked.review().value());
                out.writeStringProperty("task_id", asked.task().value());
                out.writeStringProperty("reason", asked.reason());
                out.writeStringProperty("description", asked.description());
                out.writeName("context");
                out.writeRawValue(asked.context());
                out.writeBooleanProperty("blocking", asked.blocking());
                out.writeStringProperty("deadline", asked.deadline().toString());
            }
            case ReviewEvent.Answered(var review, var decision, var comment, var by) -> {
                out.writeStringProperty("review_id", review.value());
                out.writeStringProperty("decision", decision);
                optional(out, "comment", comment);
                out.writeStringProperty("user_id", by.value());
            }
            case ReviewEvent.Expired(var review, var deadline, var onTimeout) -> {
                deadline(out, review, deadline);
                optional(out, "on_timeout", onTimeout.map(ReviewPolicy.OnTimeout::text));
            }
            case ReviewEvent.Reminder(var review, var deadline) -> deadline(out, review, deadline);
            case ReviewEvent.Escalated(var review, var deadline) -> deadline(out, review, deadline);
        }
    }

    private static void deadline(JsonGenerator out, ReviewId review, Instant deadline) {
        out.writeStringProperty("review_id", review.value());
        out.writeStringProperty("deadline", deadline.toString());
    }

    private static void write(JsonGenerator out, AlertEvent event) {
        switch (event) {
            case AlertEvent.AnomalyDetected anomaly -> {
                out.writeStringProperty("scope", anomaly.scope());
                out.writeStringProperty("metric", anomaly.metric());
                out.writeNumberProperty("value", anomaly.value());
                out.writeNumberProperty("baseline", anomaly.baseline());
                out.writeNumberProperty("deviation", anomaly.deviation());
                out.writeNumberProperty("samples", anomaly.samples());
                optional(out, "run_id", anomaly.run().map(RunId::value));
                optional(out, "task_id", anomaly.task().map(TaskId::value));
            }
            case AlertEvent.WebhookDead(var webhook, var delivery, var eventType, var attempts, var error) -> {
                out.writeStringProperty("webhook_id", webhook.value());
                out.writeStringProperty("delivery_id", delivery.value());
                out.writeStringProperty("event_type", eventType);
                out.writeNumberProperty("attempts", attempts);
                out.writeStringProperty("error", error);
            }
        }
    }

    private static void write(JsonGenerator out, MessageEvent event) {
        switch (event) {
            case MessageEvent.Posted(var id, var _, var content, var mode) -> {
                out.writeStringProperty("message_id", id);
                out.writeStringProperty("content", content);
                out.writeStringProperty("inject_mode", mode.text());
            }
            case MessageEvent.Delivered(var id, var kind, var latency) -> {
                out.writeStringProperty("message_id", id);
                out.writeStringProperty("message_type", kind.text());
                out.writeNumberProperty("latency_ms", latency.toMillis());
            }
        }
    }

    private static void write(JsonGenerator out, GuardianEvent event) {
        switch (event) {
            case GuardianEvent.Found(var run, var task, var pattern, var action) -> {
                write(out, run, task);
                write(out, pattern);
                out.writeStringProperty("action", action.text());
            }
            case GuardianEvent.Outcome(var run, var task, var pattern, var ended) -> {
                write(out, run, task);
                write(out, pattern);
                out.writeBooleanProperty("ended", ended);
            }
            case GuardianEvent.Judged(var run, var task, Judgement judgement) -> {
                write(out, run, task);
                out.writeNumberProperty("alignment", judgement.alignment());
                out.writeStringProperty("state", judgement.state().text());
                out.writeStringProperty("message", judgement.message());
                out.writeNumberProperty("confidence", judgement.confidence());
            }
        }
    }

    private static void write(JsonGenerator out, RunId run, TaskId task) {
        out.writeStringProperty("run_id", run.value());
        out.writeStringProperty("task_id", task.value());
    }

    private static void write(JsonGenerator out, GuardianEvent.Pattern pattern) {
        out.writeStringProperty("rule", pattern.rule());
        out.writeStringProperty("summary", pattern.summary());
        out.writeArrayPropertyStart("evidence");
        pattern.evidence().forEach(out::writeNumber);
        out.writeEndArray();
    }

    private static void write(JsonGenerator out, ConductorEvent event) {
        switch (event) {
            case ConductorEvent.Report(var runs, var coherence, var overlaps) -> {
                out.writeNumberProperty("runs", runs);
                out.writeNumberProperty("coherence", coherence);
                out.writeArrayPropertyStart("overlaps");
                overlaps.forEach(overlap -> write(out, overlap));
                out.writeEndArray();
            }
        }
    }

    private static void write(JsonGenerator out, ConductorEvent.Overlap overlap) {
        out.writeStartObject();
        out.writeStringProperty("kind", overlap.kind().text());
        out.writeStringProperty("earlier_run_id", overlap.earlier().value());
        out.writeStringProperty("later_run_id", overlap.later().value());
        out.writeStringProperty("summary", overlap.summary());
        out.writeArrayPropertyStart("files");
        overlap.files().forEach(out::writeString);
        out.writeEndArray();
        out.writeEndObject();
    }

    private static void write(JsonGenerator out, WorkerEvent event) {
        switch (event) {
            case WorkerEvent.ToolUsed _ -> {}
            case WorkerEvent.UsageReported(var input, var output, var cost) -> {
                out.writeNumberProperty("input_tokens", input);
                out.writeNumberProperty("output_tokens", output);
                out.writeNumberProperty("cost_usd", cost);
            }
            case WorkerEvent.ConversationNamed(var session) -> out.writeStringProperty("session_id", session);
            case WorkerEvent.Completed(var summary) -> out.writeStringProperty("summary", summary);
            case WorkerEvent.Failed(var reason, var code, var cost) -> {
                out.writeStringProperty("reason", reason);
                optional(out, "reason_code", code);
                cost.ifPresent(dollars -> out.writeNumberProperty("cost_usd", dollars));
            }
        }
    }

    @Override
    public EventBody decode(String type, String data) {
        try {
            return EventBodyReader.read(type, data);
        } catch (RuntimeException e) {
            return new EventBody.Custom(type, data);
        }
    }
}
