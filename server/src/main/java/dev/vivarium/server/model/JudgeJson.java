package dev.vivarium.server.model;

import dev.vivarium.core.guard.trajectory.TrajectoryDigest;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Judgement;
import dev.vivarium.model.PlainText;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TextEnum;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/// JSON form of a trajectory for the judge, and of the judgement. Stateless.
final class JudgeJson {
    private JudgeJson() {}

    /// Returns a trajectory as one JSON object.
    static String text(TrajectoryDigest trajectory) {
        byte[] bytes = Json.bytes(out -> {
            out.writeObjectPropertyStart("task");
            out.writeStringProperty("title", trajectory.title());
            out.writeStringProperty("description", trajectory.description());
            out.writeStringProperty("constraints", trajectory.constraints());
            out.writeEndObject();
            totals(out, trajectory.totals());
            out.writeArrayPropertyStart("calls");
            for (TrajectoryDigest.Step step : trajectory.calls()) {
                out.writeStartObject();
                out.writeNumberProperty("seq", step.seq());
                out.writeStringProperty("call", step.call());
                out.writeStringProperty("outcome", step.outcome());
                out.writeEndObject();
            }
            out.writeEndArray();
            texts(out, "errors", trajectory.errors());
            texts(out, "files", trajectory.files());
        });
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static void totals(JsonGenerator out, TrajectoryDigest.Totals totals) {
        out.writeObjectPropertyStart("totals");
        out.writeNumberProperty("elapsed_seconds", totals.elapsed().toSeconds());
        out.writeNumberProperty("calls", totals.calls());
        out.writeNumberProperty("failed_calls", totals.failedCalls());
        out.writeNumberProperty("calls_without_progress", totals.callsWithoutProgress());
        out.writeNumberProperty("cost_usd", totals.costUsd());
        out.writeEndObject();
    }

    private static void texts(JsonGenerator out, String name, List<String> texts) {
        out.writeArrayPropertyStart(name);
        texts.forEach(out::writeString);
        out.writeEndArray();
    }

    /// Reads the answer of a model. Fails with `InvalidRequest` unless it is exactly one object of the schema. A
    /// long message is cut.
    static Judgement judgement(String answer) {
        JsonFields fields = Json.request(answer.strip().getBytes(StandardCharsets.UTF_8));
        String state = fields.string("state");
        String message = PlainText.of(fields.string("message"));
        var judgement = new Judgement(
                fields.number("alignment"),
                TextEnum.find(Judgement.State.class, state)
                        .orElseThrow(() -> SandboxException.invalid("state", "is unknown")),
                message.substring(0, Math.min(Judgement.LONGEST, message.length())),
                fields.number("confidence"));
        fields.refuseOthers();
        return judgement;
    }
}
