package dev.vivarium.server.api;

import dev.vivarium.core.run.RunOutcome;
import dev.vivarium.core.run.WorkerReport;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Usage;
import java.math.BigDecimal;
import java.util.Optional;

/// JSON form of worker reports. Thread-safe.
public final class WorkerReportJson implements WorkerReport.Decoder {
    @Override
    public Optional<WorkerReport> decode(Event event) {
        return switch (event.type()) {
            case "agent.tool_use" -> Optional.of(new WorkerReport.ToolUsed());
            case "agent.usage" -> usage(event);
            case "agent.transcript" -> text(event, "session_id").map(WorkerReport.Conversation::new);
            case "agent.completed" -> Optional.of(judged(event, RunOutcome.Kind.COMPLETED, "summary"));
            case "agent.failed" -> Optional.of(judged(event, RunOutcome.Kind.FAILED, "reason"));
            default -> Optional.empty();
        };
    }

    private static Optional<WorkerReport> usage(Event event) {
        try {
            JsonFields data = Json.answer(event.data());
            return Optional.of(new WorkerReport.Used(new Usage(
                    "",
                    data.optionalInteger("input_tokens").orElse(0L),
                    data.optionalInteger("output_tokens").orElse(0L),
                    0,
                    0,
                    BigDecimal.valueOf(data.optionalNumber("cost_usd").orElse(0)))));
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    private static WorkerReport judged(Event event, RunOutcome.Kind kind, String field) {
        return new WorkerReport.Judged(new RunOutcome(kind, text(event, field).orElse("")));
    }

    private static Optional<String> text(Event event, String field) {
        try {
            return Json.answer(event.data()).optionalString(field);
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }
}
