package dev.vivarium.server.api;

import dev.vivarium.core.run.IdempotencyRecords;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.core.run.Runs;
import dev.vivarium.json.Json;
import dev.vivarium.json.ReviewJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Review;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;

/// What agents ask people: `POST …/sandbox/task/{task_id}/review` and `GET …/review/{review_id}` for the worker,
/// `GET …/sandboxes/{sandbox_id}/reviews` and `POST …/reviews/{review_id}` for people. Thread-safe.
public final class ReviewsHandler {
    private static final int MOST = 1000;

    /// Approximate memory of a review, in bytes.
    private static final int REVIEW_BYTES = 4096;

    private final Reviews reviews;
    private final Runs runs;
    private final IdempotencyRecords repeats;
    private final InstantSource clock;

    public ReviewsHandler(Reviews reviews, Runs runs, IdempotencyRecords repeats, InstantSource clock) {
        this.reviews = reviews;
        this.runs = runs;
        this.repeats = repeats;
        this.clock = clock;
    }

    public void ask(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var grant = WorkerCall.ofTask(exchange);
        WorkerCall.once(exchange, repeats, (fields, key) -> {
            var question = ReviewJson.read(fields);
            Review review = reviews.ask(runs.requireActive(grant.sandbox(), grant.task()), question, key);
            return out -> {
                out.writeBooleanProperty("success", true);
                out.writeStringProperty("review_id", review.id().value());
                out.writeStringProperty("status", review.status().text());
                Json.time(out, "deadline", review.deadline());
            };
        });
    }

    /// The worker waits by asking again and again; an answer comes at once.
    public void await(Exchange exchange) throws IOException {
        exchange.allowQuery("wait");
        var grant = WorkerCall.ofTask(exchange);
        Duration patience = PageQuery.wait(exchange);
        try {
            String id = exchange.path("review_id");
            answer(
                    exchange,
                    exchange.access()
                            .await(
                                    patience,
                                    step -> reviews.await(grant.sandbox(), id, step),
                                    review -> !review.isPending()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException(new Failure.ShuttingDown(), e);
        }
    }

    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery("limit");
        var found = reviews.list(new SandboxId(exchange.path("sandbox_id")), PageQuery.limit(exchange, MOST));
        exchange.reserve((long) REVIEW_BYTES * found.size());
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("reviews");
            for (Review review : found) {
                out.writeStartObject();
                ReviewJson.write(out, review);
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }

    public void decide(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var review = reviews.require(exchange.sandbox().id(), exchange.path("review_id"));
        var fields = exchange.json();
        String decision = fields.string("decision");
        var comment = WorkerCall.optionalMessage(fields, "comment");
        fields.refuseOthers();
        var by = exchange.principal().name();
        answer(exchange, reviews.answer(review, new Review.Answer(decision, comment, by, clock.instant())));
    }

    private static void answer(Exchange exchange, Review review) throws IOException {
        exchange.answer(200, out -> ReviewJson.write(out, review));
    }
}
