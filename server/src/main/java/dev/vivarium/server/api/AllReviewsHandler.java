package dev.vivarium.server.api;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.run.ReviewEntry;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.json.ReviewJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Review;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// `GET /api/v1/reviews`: what the agents of all sandboxes that the caller may watch have asked. Thread-safe.
public final class AllReviewsHandler {
    private static final int MOST = 1000;

    /// Approximate memory of a review, in bytes.
    private static final int REVIEW_BYTES = 4096;

    private final Reviews reviews;
    private final Rights rights;

    public AllReviewsHandler(Reviews reviews, Rights rights) {
        this.reviews = reviews;
        this.rights = rights;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery("status", "limit");
        Optional<Review.Status> status = exchange.optionalQuery("status").map(AllReviewsHandler::status);
        Principal caller = exchange.principal();
        var found = reviews.list(status, caller.user(), PageQuery.limit(exchange, MOST));
        exchange.reserve((long) REVIEW_BYTES * found.size());
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("reviews");
            for (ReviewEntry entry : found) {
                scopes(caller, entry)
                        .filter(scopes -> scopes.allows(Scope.SHELL_RO))
                        .ifPresent(scopes -> write(out, entry, scopes));
            }
            out.writeEndArray();
        });
    }

    private static Review.Status status(String word) {
        return Review.Status.find(word)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest(
                        "status", "must be pending, approved, rejected, answered, expired or cancelled")));
    }

    private Optional<Scopes> scopes(Principal caller, ReviewEntry entry) {
        return rights.of(caller, new Rights.Target(entry.review().sandbox(), entry.thread(), entry.owner()));
    }

    private static void write(JsonGenerator out, ReviewEntry entry, Scopes scopes) {
        out.writeStartObject();
        ReviewJson.write(out, entry.review());
        out.writeStringProperty("thread_id", entry.thread().value());
        out.writeStringProperty("user_id", entry.owner().value());
        out.writeStringProperty("task_title", entry.title());
        out.writeBooleanProperty("may_answer", entry.review().isPending() && scopes.allows(Scope.PROCESS));
        out.writeEndObject();
    }
}
