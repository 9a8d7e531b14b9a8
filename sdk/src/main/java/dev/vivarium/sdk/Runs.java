package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.Message;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.sdk.http.Transport;
import java.util.List;
import java.util.Optional;

/// Runs of agents in sandboxes. Thread-safe.
public final class Runs {
    private static final String PATH = "/api/v1/sandboxes";
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

    /// The sandbox of the thread.
    public Optional<SandboxId> sandboxOf(String thread) {
        return list().stream()
                .filter(entry -> entry.thread().value().equals(thread))
                .map(SandboxRun::sandbox)
                .findFirst();
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
