package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Message;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.sdk.http.Transport;
import java.util.List;
import java.util.Optional;

/// Runs of agents in sandboxes. Thread-safe.
public final class Runs {
    private static final String PATH = "/api/v1/sandboxes";
    private static final String RUNS = "/api/v1/runs";
    private static final int LIST_LIMIT = 1000;

    private final Transport transport;

    Runs(Transport transport) {
        this.transport = transport;
    }

    /// A run that was just started; `json` is the response of the server. Immutable.
    public record StartedRun(SandboxId sandbox, ThreadId thread, String json) {
        private static StartedRun read(JsonFields fields) {
            return new StartedRun(
                    new SandboxId(fields.string("sandbox_id")),
                    new ThreadId(fields.string("thread_id")),
                    fields.text());
        }
    }

    /// A sandbox with its run, if it has one. Immutable.
    ///
    /// @param status state of the run, or of the sandbox if the run does not determine it
    /// @param json   the object that the server sent, with the members that this version does not know
    public record SandboxRun(SandboxId sandbox, ThreadId thread, String status, Optional<Run> run, String json) {
        private static SandboxRun read(JsonFields fields) {
            return new SandboxRun(
                    new SandboxId(fields.string("sandbox_id")),
                    new ThreadId(fields.string("thread_id")),
                    fields.string("status"),
                    RunJson.readRun(fields),
                    fields.text());
        }
    }

    /// A run, also of a sandbox that has ended. Immutable.
    ///
    /// @param json the object that the server sent, with the members that this version does not know
    public record RunRecord(Run run, String title, String json) {
        private static RunRecord read(JsonFields fields) {
            return new RunRecord(
                    RunJson.readEntry(fields),
                    fields.optionalString("task_title").orElse(""),
                    fields.text());
        }
    }

    /// Filter for [#history]. Immutable.
    ///
    /// @param limit maximum number of runs, up to 1,000
    public record HistoryFilter(Optional<String> thread, Optional<String> task, Optional<String> status, int limit) {
        private String query() {
            return "?limit=" + limit
                    + thread.map(text -> "&thread_id=" + Transport.segment(text))
                            .orElse("")
                    + task.map(text -> "&task_id=" + Transport.segment(text)).orElse("")
                    + status.map(text -> "&status=" + Transport.segment(text)).orElse("");
        }
    }

    /// A message in the queue of an agent; `json` is the response of the server. Immutable.
    ///
    /// @param listening whether an agent runs that will receive it
    public record QueuedMessage(String id, boolean listening, String json) {
        private static QueuedMessage read(JsonFields fields) {
            return new QueuedMessage(
                    fields.string("message_id"),
                    fields.optionalFlag("listening").orElse(true),
                    fields.text());
        }
    }

    /// Starts an agent.
    public StartedRun start(NewRun request) {
        return transport.post(PATH, request::write, StartedRun::read);
    }

    /// At most 1,000 sandboxes, with or without a run.
    public List<SandboxRun> list() {
        return list("");
    }

    /// The same with only those of one status, for example `running`.
    public List<SandboxRun> listByStatus(String status) {
        return list("&status=" + Transport.segment(status));
    }

    private List<SandboxRun> list(String filter) {
        return transport.get(
                PATH + "?limit=" + LIST_LIMIT + filter,
                fields -> fields.objects("sandboxes").stream()
                        .map(SandboxRun::read)
                        .toList());
    }

    /// The newest runs, also of sandboxes that have ended.
    public List<RunRecord> history(HistoryFilter filter) {
        return transport.get(
                RUNS + filter.query(),
                fields -> fields.objects("runs").stream().map(RunRecord::read).toList());
    }

    /// One run by its id.
    public RunRecord get(String run) {
        return transport.get(RUNS + "/" + Transport.segment(run), RunRecord::read);
    }

    /// Stops a run and keeps its sandbox. The run ends a moment later.
    public RunRecord cancel(String run) {
        return transport.post(RUNS + "/" + Transport.segment(run) + "/cancel", out -> {}, RunRecord::read);
    }

    /// The sandbox with this id and its newest run.
    public SandboxRun find(String sandbox) {
        return transport.get(path(sandbox), fields -> SandboxRun.read(fields.object("sandbox")));
    }

    /// The sandbox of the thread; if it has ended, the newest one in [#list].
    public Optional<SandboxId> sandboxOf(String thread) {
        try {
            String path = "/threads/" + Transport.segment(thread) + "/sandbox";
            return Optional.of(transport.get(path, fields -> new SandboxId(fields.string("sandbox_id"))));
        } catch (SandboxException e) {
            if (!(e.failure() instanceof Failure.NoSandboxForThread)) {
                throw e;
            }
            return list().stream()
                    .filter(entry -> entry.thread().value().equals(thread))
                    .map(SandboxRun::sandbox)
                    .findFirst();
        }
    }

    /// Queues a message for the agent in the sandbox.
    public QueuedMessage send(String sandbox, String content, Message.Kind kind) {
        return transport.post(
                path(sandbox) + "/messages",
                out -> {
                    out.writeStringProperty("content", content);
                    out.writeStringProperty("message_type", kind.text());
                },
                QueuedMessage::read);
    }

    static String path(String sandbox) {
        return PATH + "/" + Transport.segment(sandbox);
    }
}
