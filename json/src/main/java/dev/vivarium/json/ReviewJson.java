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
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.UserId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// JSON form of reviews. Stateless.
public final class ReviewJson {
    /// Option of a review. Immutable.
    ///
    /// @param label text for people; the id if the agent gave none
    public record Choice(String id, String label) {}

    private static final ObjectType<Choice> CHOICE =
            object("ReviewChoice", field("id", STRING, Choice::id), field("label", STRING, Choice::label));

    public static final ObjectType<Review> REVIEW = object(
                    "Review",
                    field("review_id", REVIEW_ID, Review::id),
                    field("sandbox_id", SANDBOX_ID, Review::sandbox),
                    field("task_id", TASK_ID, Review::task),
                    field("reason", STRING, review -> review.asked().reason()),
                    field("description", STRING, review -> review.asked().description()),
                    field("context", RAW_OBJECT, review -> review.asked().context()),
                    field("options", list(STRING), review -> review.asked().options()),
                    field(
                            "choices",
                            list(CHOICE),
                            "The options with their labels. Without options, the decision is `approve` or `reject`.",
                            review -> choices(review.asked())),
                    field("blocking", BOOLEAN, review -> review.asked().blocking()),
                    field("status", constants(Review.Status.class), Review::status),
                    optional("decision", STRING, review -> review.answer().map(Review.Answer::decision)),
                    optional("decision_label", STRING, "The label of the chosen option.", ReviewJson::decisionLabel),
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
        return readChoices(context).stream().map(Choice::id).toList();
    }

    private static List<Choice> readChoices(JsonFields context) {
        var choices = new ArrayList<Choice>();
        for (Object option : context.optionalList("options").orElse(List.of())) {
            switch (option) {
                case String word -> choices.add(new Choice(word, word));
                case JsonFields object -> choices.add(readChoice(object));
                default -> throw SandboxException.invalid("context.options", "must hold words, or objects with an id");
            }
        }
        return choices;
    }

    private static Choice readChoice(JsonFields object) {
        String id = object.string("id");
        return new Choice(
                id,
                object.optionalString("label")
                        .or(() -> object.optionalString("description"))
                        .filter(text -> !text.isBlank())
                        .orElse(id));
    }

    /// Returns the options of a review with their labels.
    public static List<Choice> choices(NewReview asked) {
        return readChoices(Json.answer(asked.context()));
    }

    private static Optional<String> decisionLabel(Review review) {
        return review.answer()
                .flatMap(answer -> choices(review.asked()).stream()
                        .filter(choice -> choice.id().equals(answer.decision()))
                        .map(Choice::label)
                        .findFirst());
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
