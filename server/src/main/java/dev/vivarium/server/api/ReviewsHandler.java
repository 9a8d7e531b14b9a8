package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.REVIEW_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.WORKER;
import static dev.vivarium.server.http.Route.Access.kept;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.run.IdempotencyRecords;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.ReviewJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewPolicy;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// Questions of agents to people: `POST …/sandbox/task/{task_id}/review` and `GET …/review/{review_id}` for the
/// worker, `GET …/sandboxes/{sandbox_id}/reviews` and `POST …/reviews/{review_id}` for people. Thread-safe.
public final class ReviewsHandler {
    private static final ObjectType<Review> ASKED = object(
            "ReviewAsked",
            field("success", BOOLEAN, review -> true),
            field("review_id", REVIEW_ID, Review::id),
            field(
                    "status",
                    STRING.with("enum", List.of("pending")),
                    review -> review.status().text()),
            optional("deadline", TIME, review -> Optional.of(review.deadline())));
    private static final ObjectType<List<Review>> REVIEWS =
            object("Reviews", field("reviews", JsonType.list(ReviewJson.REVIEW), Function.identity()));
    private static final ObjectType<Decision> DECISION = object(
                    "ReviewAnswer",
                    Decision::new,
                    field("decision", STRING),
                    optional("comment", WorkerCall.message("comment")))
            .closed();

    private record Decision(String decision, Optional<String> comment) {}

    public static final RouteDescription ASK = RouteDescription.post("/api/v1/sandbox/task/{task_id}/review", WORKER)
            .named("requestReview", "Ask a person for a review")
            .text(WorkerCall.FOR_WORKERS)
            .header("Idempotency-Key", WorkerCall.IDEMPOTENCY)
            .takes(ReviewJson.NEW_REVIEW)
            .answers(200, "The review is pending.", ASKED)
            .fails(409, 422);

    public static final RouteDescription AWAIT = RouteDescription.get(
                    "/api/v1/sandbox/task/{task_id}/review/{review_id}", WORKER)
            .named("awaitReview", "Find a review")
            .text(WorkerCall.FOR_WORKERS)
            .query("wait", PageQuery.WAIT, "Seconds to wait for a decision.")
            .answers(200, "The review.", ReviewJson.REVIEW)
            .fails(404);

    public static final RouteDescription LIST = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}/reviews", kept(Scope.SHELL_RO))
            .named("listReviews", "List the reviews of a sandbox")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .text("Newest first.")
            .answers(200, "All reviews of the sandbox.", REVIEWS);

    public static final RouteDescription DECIDE = RouteDescription.post(
                    "/api/v1/sandboxes/{sandbox_id}/reviews/{review_id}", scoped(Scope.PROCESS))
            .named("answerReview", "Decide a review")
            .text("`decision` is `approve`, `reject` or one of the options.")
            .takes(DECISION)
            .answers(200, "The decided review.", ReviewJson.REVIEW)
            .fails(409, 422);

    private static final int MAX_PAGE = 1000;

    /// Approximate memory of a review, in bytes.
    private static final int REVIEW_BYTES = 4096;

    private final Reviews reviews;
    private final Runs runs;
    private final Tasks tasks;
    private final IdempotencyRecords idempotencyRecords;
    private final InstantSource clock;

    public ReviewsHandler(
            Reviews reviews, Runs runs, Tasks tasks, IdempotencyRecords idempotencyRecords, InstantSource clock) {
        this.reviews = reviews;
        this.runs = runs;
        this.tasks = tasks;
        this.idempotencyRecords = idempotencyRecords;
        this.clock = clock;
    }

    public void ask(Exchange exchange) throws IOException {
        var grant = WorkerCall.ofTask(exchange);
        WorkerCall.handleIdempotently(exchange, idempotencyRecords, (fields, key) -> {
            var question = ReviewJson.NEW_REVIEW.read(fields);
            var run = runs.requireActive(grant.sandbox(), grant.task());
            var policy = tasks.find(grant.task()).flatMap(ReviewJson::policy).orElse(ReviewPolicy.NONE);
            Review review = reviews.ask(run, question, policy, key);
            return out -> ASKED.writeFields(out, review);
        });
    }

    /// Handles a long poll of the worker. Sends the review when it is decided, or after the time in `wait`.
    public void await(Exchange exchange) throws IOException {
        var grant = WorkerCall.ofTask(exchange);
        Duration timeout = PageQuery.wait(exchange);
        try {
            String id = exchange.path("review_id");
            answer(
                    exchange,
                    exchange.access()
                            .await(
                                    timeout,
                                    step -> reviews.await(grant.sandbox(), id, step),
                                    review -> !review.isPending()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    public void list(Exchange exchange) throws IOException {
        var found = reviews.list(new SandboxId(exchange.path("sandbox_id")), PageQuery.limit(exchange, MAX_PAGE));
        exchange.reserve((long) REVIEW_BYTES * found.size());
        exchange.answer(200, REVIEWS, found);
    }

    public void decide(Exchange exchange) throws IOException {
        var review = reviews.require(exchange.sandbox().id(), exchange.path("review_id"));
        var given = exchange.json(DECISION);
        var by = exchange.principal().name();
        answer(
                exchange,
                reviews.answer(review, new Review.Answer(given.decision(), given.comment(), by, clock.instant())));
    }

    private static void answer(Exchange exchange, Review review) throws IOException {
        exchange.answer(200, ReviewJson.REVIEW, review);
    }
}
