package dev.vivarium.json;

import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.model.ProcessInfo;
import java.util.List;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/// JSON form of processes. Stateless.
public final class ProcessJson {
    public static final ObjectType<ProcessInfo> PROCESS = object(
            "Process",
            field("process_id", STRING, ProcessInfo::id),
            field("pid", INT.with("minimum", 1), ProcessInfo::pid),
            field("command", STRING, ProcessInfo::command),
            field("kind", constants(ProcessInfo.Kind.class), ProcessInfo::kind),
            field("who", STRING, "The principal that started it.", ProcessInfo::who),
            field("started_at", TIME, ProcessInfo::startedAt),
            field(
                    "state",
                    constants(ProcessInfo.State.class),
                    "`lost`: the connection to the guest failed. The process may still run.",
                    ProcessInfo::state),
            optional("exit", ExecJson.EXIT, process -> process.exit().map(exit -> ExecJson.Ended.of(exit, false))));

    public static final ObjectType<List<ProcessInfo>> PROCESSES =
            object("Processes", field("processes", list(PROCESS), Function.identity()));

    private ProcessJson() {}

    /// Writes an event for lost output: it is too old, or the reader was too slow.
    public static void missed(JsonGenerator out, long bytes) {
        out.writeStringProperty("type", "missed");
        out.writeNumberProperty("bytes", bytes);
    }
}
