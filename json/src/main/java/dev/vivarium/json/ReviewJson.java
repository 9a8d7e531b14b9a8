package dev.vivarium.json;

import static dev.vivarium.json.IdTypes.REVIEW_ID;
import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.TASK_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.MINUTES;
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
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Task;
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

    public static final JsonType<ReviewPolicy.OnTimeout> ON_TIMEOUT = constants(
            ReviewPolicy.OnTimeout.class, ReviewPolicy.OnTimeout::text, "must be reject, approve, fail or escalate");

    private static final String TIMEOUT = "timeout_minutes";
    private static final String TIMEOUT_TEXT = "Time until the deadline.";
    private static final String ON_TIMEOUT_NAME = "on_timeout";
    private static final String ON_TIMEOUT_TEXT = """
            What the server does at the deadline. `reject`: the review expires. `approve`: the server approves it. \
            `fail`: the review expires, and the server stops the run. `escalate`: the review stays open, and the \
            server raises an alert.""";

    /// Name of the policy among the constraints of a task.
    static final String POLICY_NAME = "review_policy";

    /// The default policy of the reviews of a task.
    public static final ObjectType<ReviewPolicy> POLICY = object(
                    "ReviewPolicy",
                    ReviewPolicy::new,
                    optional(TIMEOUT, MINUTES, TIMEOUT_TEXT, ReviewPolicy::timeout),
                    optional(ON_TIMEOUT_NAME, ON_TIMEOUT, ON_TIMEOUT_TEXT, ReviewPolicy::onTimeout))
            .closed();

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
                    field("deadline", TIME, Review::deadline),
                    optional(
                            TIMEOUT,
                            MINUTES,
                            TIMEOUT_TEXT,
                            review -> review.asked().policy().timeout()),
                    optional(
                            ON_TIMEOUT_NAME,
                            ON_TIMEOUT,
                            ON_TIMEOUT_TEXT,
                            review -> review.asked().policy().onTimeout()),
                    optional(
                            "escalated_at",
                            TIME,
                            "Present if the deadline has passed and the review stays open.",
                            Review::escalatedAt))
            .readBy(ReviewJson::readReview);

    /// A question. Its options are in `context.options`: strings, or objects with an `id`.
    public static final ObjectType<NewReview> NEW_REVIEW = ObjectType.<NewReview>object(
                    "NewReview",
                    field("reason", STRING),
                    field("description", STRING),
                    optional("context", RAW_OBJECT),
                    optional("blocking", BOOLEAN),
                    optional(TIMEOUT, MINUTES, TIMEOUT_TEXT),
                    optional(ON_TIMEOUT_NAME, ON_TIMEOUT, ON_TIMEOUT_TEXT))
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
                fields.optionalFlag("blocking").orElse(true),
                readPolicy(fields));
    }

    private static ReviewPolicy readPolicy(JsonFields fields) {
        return new ReviewPolicy(fields.optional(TIMEOUT, MINUTES), fields.optional(ON_TIMEOUT_NAME, ON_TIMEOUT));
    }

    /// Returns the policy of a task, if it has one.
    public static Optional<ReviewPolicy> policy(Task task) {
        String constraints = task.wanted().constraints();
        if (!constraints.contains('"' + POLICY_NAME + '"')) {
            return Optional.empty();
        }
        try {
            return Json.answer(constraints).optionalObject(POLICY_NAME).map(POLICY::read);
        } catch (SandboxException e) {
            // An earlier version stored any constraint with this name.
            return Optional.empty();
        }
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
                fields.flag("blocking"),
                readPolicy(fields));
        return new Review(
                new ReviewId(fields.string("review_id")),
                new SandboxId(fields.string("sandbox_id")),
                new TaskId(fields.string("task_id")),
                asked,
                fields.required("status", JsonType.constants(Review.Status.class)),
                fields.optionalString("decision").map(decision -> readAnswer(fields, decision)),
                fields.time("created_at"),
                fields.time("deadline"),
                fields.optionalTime("escalated_at"));
    }

    private static Review.Answer readAnswer(JsonFields fields, String decision) {
        return new Review.Answer(
                decision,
                fields.optionalString("comment"),
                new UserId(fields.string("answered_by")),
                fields.time("answered_at"));
    }
}
