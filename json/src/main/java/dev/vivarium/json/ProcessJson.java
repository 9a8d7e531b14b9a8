package dev.vivarium.json;

import dev.vivarium.model.ProcessInfo;
import java.util.List;
import java.util.Locale;
import tools.jackson.core.JsonGenerator;

/// JSON form of processes. Stateless.
public final class ProcessJson {
    private ProcessJson() {}

    public static void write(JsonGenerator out, List<ProcessInfo> processes) {
        out.writeArrayPropertyStart("processes");
        for (var process : processes) {
            out.writeStartObject();
            write(out, process);
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    public static void write(JsonGenerator out, ProcessInfo process) {
        out.writeStringProperty("process_id", process.id());
        out.writeNumberProperty("pid", process.pid());
        out.writeStringProperty("command", process.command());
        out.writeStringProperty("kind", lower(process.kind()));
        out.writeStringProperty("who", process.who());
        Json.time(out, "started_at", process.startedAt());
        out.writeStringProperty("state", lower(process.state()));
        process.exit().ifPresent(exit -> {
            out.writeObjectPropertyStart("exit");
            ExecJson.writeEnd(out, exit);
            out.writeEndObject();
        });
    }

    /// Writes an event for lost output: it is too old, or the reader was too slow.
    public static void missed(JsonGenerator out, long bytes) {
        out.writeStringProperty("type", "missed");
        out.writeNumberProperty("bytes", bytes);
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
