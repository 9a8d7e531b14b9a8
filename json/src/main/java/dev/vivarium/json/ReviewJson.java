package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.REVIEW_ID;
import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.TASK_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.RAW_OBJECT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.model.NewReview;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.UserId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// JSON form of reviews. Stateless.
public final class ReviewJson {
    public static final ObjectType<Review> REVIEW = object(
                    "Review",
                    field("review_id", REVIEW_ID, Review::id),
                    field("sandbox_id", SANDBOX_ID, Review::sandbox),
                    field("task_id", TASK_ID, Review::task),
                    field("reason", STRING, review -> review.asked().reason()),
                    field("description", STRING, review -> review.asked().description()),
                    field("context", RAW_OBJECT, review -> review.asked().context()),
                    field("options", list(STRING), review -> review.asked().options()),
                    field("blocking", BOOLEAN, review -> review.asked().blocking()),
                    field("status", constants(Review.Status.class), Review::status),
                    optional("decision", STRING, review -> review.answer().map(Review.Answer::decision)),
                    optional("comment", STRING, review -> review.answer().flatMap(Review.Answer::comment)),
                    optional("answered_by", USER_ID, review -> review.answer().map(Review.Answer::by)),
                    optional("answered_at", TIME, review -> review.answer().map(Review.Answer::at)),
                    field("created_at", TIME, Review::createdAt),
                    field("deadline", TIME, Review::deadline))
            .readBy(ReviewJson::readReview);

    /// A question. Its options are in `context.options`: strings, or objects with an `id`.
    public static final ObjectType<NewReview> NEW_REVIEW = ObjectType.<NewReview>object(
                    "NewReview",
                    field("reason", STRING),
                    field("description", STRING),
                    optional("context", RAW_OBJECT),
                    optional("blocking", BOOLEAN))
            .readBy(ReviewJson::read)
            .closed();

    private ReviewJson() {}

    private static NewReview read(JsonFields fields) {
        Optional<JsonFields> context = fields.optionalObject("context");
        return new NewReview(
                fields.string("reason"),
                fields.string("description"),
                context.map(JsonFields::text).orElse("{}"),
                context.map(ReviewJson::options).orElse(List.of()),
                fields.optionalFlag("blocking").orElse(true));
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

    private static Review readReview(JsonFields fields) {
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
                fields.required("status", JsonType.constants(Review.Status.class)),
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
}
