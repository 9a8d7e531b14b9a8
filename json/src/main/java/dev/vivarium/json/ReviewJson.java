package dev.vivarium.json;

import dev.vivarium.model.NewReview;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.UserId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// JSON form of reviews. Stateless.
public final class ReviewJson {
    private ReviewJson() {}

    /// Reads a question. Its options are in `context.options`: strings, or objects with an `id`.
    public static NewReview read(JsonFields fields) {
        Optional<JsonFields> context = fields.optionalObject("context");
        var review = new NewReview(
                fields.string("reason"),
                fields.string("description"),
                context.map(JsonFields::text).orElse("{}"),
                context.map(ReviewJson::options).orElse(List.of()),
                fields.optionalFlag("blocking").orElse(true));
        fields.refuseOthers();
        return review;
    }

    private static List<String> options(JsonFields context) {
        var ids = new ArrayList<String>();
        for (Object option : context.optionalList("options").orElse(List.of())) {
            switch (option) {
                case String word -> ids.add(word);
                case JsonFields object -> ids.add(object.string("id"));
                default -> throw JsonFields.invalid("context.options", "must hold words, or objects with an id");
            }
        }
        return ids;
    }

    /// Reads what [#write] wrote.
    public static Review readReview(JsonFields fields) {
        var asked = new NewReview(
                fields.string("reason"),
                fields.string("description"),
                fields.object("context").text(),
                fields.findStrings("options").orElse(List.of()),
                fields.flag("blocking"));
        return new Review(
                new ReviewId(fields.string("review_id")),
                new SandboxId(fields.string("sandbox_id")),
                new TaskId(fields.string("task_id")),
                asked,
                SessionJson.constant(Review.Status.class, fields, "status"),
                fields.optionalString("decision").map(decision -> readAnswer(fields, decision)),
                fields.time("created_at"),
                fields.time("deadline"));
    }

    private static Review.Answer readAnswer(JsonFields fields, String decision) {
        return new Review.Answer(
                decision,
                fields.optionalString("comment"),
                new UserId(fields.string("answered_by")),
                fields.time("answered_at"));
    }

    /// Writes the members of one review.
    public static void write(JsonGenerator out, Review review) {
        out.writeStringProperty("review_id", review.id().value());
        out.writeStringProperty("sandbox_id", review.sandbox().value());
        out.writeStringProperty("task_id", review.task().value());
        out.writeStringProperty("reason", review.asked().reason());
        out.writeStringProperty("description", review.asked().description());
        out.writeName("context");
        out.writeRawValue(review.asked().context());
        out.writeArrayPropertyStart("options");
        review.asked().options().forEach(out::writeString);
        out.writeEndArray();
        out.writeBooleanProperty("blocking", review.asked().blocking());
        out.writeStringProperty("status", review.status().text());
        review.answer().ifPresent(answer -> {
            out.writeStringProperty("decision", answer.decision());
            answer.comment().ifPresent(comment -> out.writeStringProperty("comment", comment));
            out.writeStringProperty("answered_by", answer.by().value());
            Json.time(out, "answered_at", answer.at());
        });
        Json.time(out, "created_at", review.createdAt());
        Json.time(out, "deadline", review.deadline());
    }
}
