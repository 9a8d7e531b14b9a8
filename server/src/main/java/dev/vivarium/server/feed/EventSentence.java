package dev.vivarium.server.feed;

import dev.vivarium.json.AlertJson;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskLog;
import java.util.Optional;

/// Sentence about an event, for chat systems. Stateless.
///
/// It contains the title, the status and the reason of tasks and runs. It contains no output and no file.
final class EventSentence {
    private static final int LONGEST = 2000;

    private EventSentence() {}

    static String of(Event event) {
        String sentence = sentence(event);
        String bounded = sentence.length() <= LONGEST ? sentence : sentence.substring(0, LONGEST) + "…";
        return bounded.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static String sentence(Event event) {
        JsonFields data = Json.answer(event.data());
        if (event.type().startsWith("task.")) {
            return "Task “%s” %s%s."
                    .formatted(
                            text(data, "title").orElse(""),
                            predicate(text(data, "status").orElse("changed")),
                            because(data));
        }
        if (event.type().equals("sandbox.run_ended")) {
            return "The run %s%s ended with the status %s%s."
                    .formatted(
                            text(data, "run_id").orElse(""),
                            place(event),
                            text(data, "status").orElse("unknown"),
                            because(data));
        }
        return AlertJson.notice(event)
                .map(notice ->
                        notice.title() + place(event) + (notice.detail().isEmpty() ? "" : ": " + notice.detail()) + ".")
                .orElseGet(() -> "Event " + event.type() + place(event) + ".");
    }

    private static String predicate(String status) {
        return switch (status) {
            case "failed", "changed" -> status;
            case "cancelled" -> "was cancelled";
            default -> "is " + status;
        };
    }

    private static String because(JsonFields data) {
        return text(data, "reason").map(reason -> ": " + reason).orElse("");
    }

    private static String place(Event event) {
        return switch (event.logId()) {
            case SandboxId sandbox -> " in sandbox " + sandbox;
            case TaskLog(var owner) -> " of user " + owner;
        };
    }

    private static Optional<String> text(JsonFields data, String name) {
        try {
            return data.optionalString(name);
        } catch (SandboxException e) {
            // Agents choose the data of their events.
            return Optional.empty();
        }
    }
}
