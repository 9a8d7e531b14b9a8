package dev.vivarium.json;

import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import java.time.Duration;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/// JSON form of the events of supervision. Stateless.
final class LivenessEventJson {
    static final Set<String> TYPES = Set.of(
            "sandbox.heartbeat_missed",
            "sandbox.probed",
            "sandbox.forensics_collected",
            "sandbox.restarted",
            LivenessEvent.QUARANTINED,
            LivenessEvent.TERMINATED_IDLE);

    private LivenessEventJson() {}

    static void write(JsonGenerator out, LivenessEvent event) {
        switch (event) {
            case LivenessEvent.HeartbeatMissed(var run, var lastHeartbeatAt) -> {
                out.writeStringProperty("run_id", run.value());
                out.writeStringProperty("last_heartbeat_at", lastHeartbeatAt.toString());
            }
            case LivenessEvent.Probed probed -> write(out, probed);
            case LivenessEvent.ForensicsCollected(var run, var bytes) -> {
                out.writeStringProperty("run_id", run.value());
                out.writeNumberProperty("bytes", bytes);
            }
            case LivenessEvent.Restarted restarted -> write(out, restarted);
            case LivenessEvent.Quarantined(var run, var task, var reason, var keptUntil) -> {
                ids(out, run, task);
                out.writeStringProperty("reason", reason);
                out.writeStringProperty("kept_until", keptUntil.toString());
            }
            case LivenessEvent.TerminatedIdle(var run, var task, var lastWorkAt, var idle) -> {
                ids(out, run, task);
                out.writeStringProperty("last_work_at", lastWorkAt.toString());
                out.writeNumberProperty("idle_duration", idle.toSeconds());
            }
        }
    }

    private static void ids(JsonGenerator out, RunId run, TaskId task) {
        out.writeStringProperty("run_id", run.value());
        out.writeStringProperty("task_id", task.value());
    }

    private static void write(JsonGenerator out, LivenessEvent.Probed probed) {
        out.writeStringProperty("run_id", probed.run().value());
        out.writeBooleanProperty("guest", probed.guest());
        out.writeStringProperty("worker", probed.worker());
        probed.channel().ifPresent(channel -> out.writeStringProperty("wait_channel", channel));
        out.writeNumberProperty("children", probed.children());
        out.writeNumberProperty("memory_bytes", probed.memoryBytes());
        out.writeNumberProperty("disk_bytes", probed.diskBytes());
        out.writeNumberProperty("disk_free_bytes", probed.diskFreeBytes());
        out.writeNumberProperty("oom_kills", probed.oomKills());
    }

    private static void write(JsonGenerator out, LivenessEvent.Restarted restarted) {
        ids(out, restarted.run(), restarted.task());
        out.writeStringProperty("reason_code", restarted.reasonCode());
        out.writeStringProperty("next_run_id", restarted.nextRun().value());
        out.writeStringProperty("next_sandbox_id", restarted.nextSandbox().value());
        out.writeBooleanProperty("files", restarted.files());
        out.writeBooleanProperty("conversation", restarted.conversation());
    }

    static LivenessEvent read(String type, JsonFields data) {
        var run = new RunId(data.string("run_id"));
        return switch (type) {
            case "sandbox.heartbeat_missed" -> new LivenessEvent.HeartbeatMissed(run, data.time("last_heartbeat_at"));
            case "sandbox.probed" -> probed(run, data);
            case "sandbox.forensics_collected" -> new LivenessEvent.ForensicsCollected(run, data.integer("bytes"));
            case "sandbox.restarted" -> restarted(run, data);
            case LivenessEvent.QUARANTINED ->
                new LivenessEvent.Quarantined(run, task(data), data.string("reason"), data.time("kept_until"));
            default ->
                new LivenessEvent.TerminatedIdle(
                        run, task(data), data.time("last_work_at"), Duration.ofSeconds(data.integer("idle_duration")));
        };
    }

    private static TaskId task(JsonFields data) {
        return new TaskId(data.string("task_id"));
    }

    private static LivenessEvent probed(RunId run, JsonFields data) {
        return new LivenessEvent.Probed(
                run,
                data.flag("guest"),
                data.string("worker"),
                data.optionalString("wait_channel"),
                (int) data.integer("children"),
                data.integer("memory_bytes"),
                data.integer("disk_bytes"),
                data.integer("disk_free_bytes"),
                data.integer("oom_kills"));
    }

    private static LivenessEvent restarted(RunId run, JsonFields data) {
        return new LivenessEvent.Restarted(
                run,
                task(data),
                data.string("reason_code"),
                new RunId(data.string("next_run_id")),
                new SandboxId(data.string("next_sandbox_id")),
                data.flag("files"),
                data.flag("conversation"));
    }
}
