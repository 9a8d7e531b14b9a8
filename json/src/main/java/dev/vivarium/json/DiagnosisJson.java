package dev.vivarium.json;

import dev.vivarium.model.Event;
import dev.vivarium.model.StuckWorkflow;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/// JSON form of the context of a diagnostic task. Stateless.
public final class DiagnosisJson {
    /// Maximum size, below that of the context of any task.
    private static final int MAX_BYTES = 96 * 1024;

    private static final int MAX_TASKS = 10;
    private static final int EVENTS = 100;

    private DiagnosisJson() {}

    /// Returns the failed tasks with their reasons and last events, a JSON object as text. If all events are too
    /// large together, it contains fewer of each task.
    public static String context(StuckWorkflow workflow) {
        int events = EVENTS;
        byte[] bytes = write(workflow, events);
        while (bytes.length > MAX_BYTES && events > 0) {
            events /= 2;
            bytes = write(workflow, events);
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] write(StuckWorkflow workflow, int events) {
        return Json.bytes(out -> {
            out.writeNumberProperty("waiting_tasks", workflow.waiting());
            out.writeArrayPropertyStart("failed_tasks");
            workflow.lost().stream().limit(MAX_TASKS).forEach(lost -> write(out, lost, events));
            out.writeEndArray();
        });
    }

    private static void write(JsonGenerator out, StuckWorkflow.Lost lost, int events) {
        out.writeStartObject();
        out.writeStringProperty("task_id", lost.task().value());
        out.writeStringProperty("title", lost.title());
        out.writeStringProperty("status", lost.status().text());
        out.writeStringProperty("reason", lost.reason());
        out.writeArrayPropertyStart("events");
        List<Event> all = lost.events();
        all.subList(Math.max(0, all.size() - events), all.size()).forEach(event -> write(out, event));
        out.writeEndArray();
        out.writeEndObject();
    }

    private static void write(JsonGenerator out, Event event) {
        out.writeStartObject();
        out.writeNumberProperty("seq", event.seq());
        out.writeStringProperty("at", event.at().toString());
        out.writeStringProperty("event_type", event.type());
        out.writeName("event_data");
        out.writeRawValue(event.data());
        out.writeEndObject();
    }
}
