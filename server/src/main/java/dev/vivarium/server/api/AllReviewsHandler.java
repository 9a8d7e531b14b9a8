package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.run.ReviewEntry;
import dev.vivarium.core.run.Reviews;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.ReviewJson;
import dev.vivarium.model.Review;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// `GET /api/v1/reviews`: the reviews of all sandboxes that the caller may watch. Thread-safe.
public final class AllReviewsHandler {
    private static final ObjectType<Line> REVIEW = ReviewJson.REVIEW
            .<Line>over(line -> line.entry().review())
            .and(
                    "ReviewOfAll",
                    object(
                            "",
                            field(
                                    "thread_id",
                                    THREAD_ID,
                                    line -> line.entry().key().thread()),
                            field(
                                    "user_id",
                                    USER_ID,
                                    "The owner of the sandbox.",
                                    line -> line.entry().key().user()),
                            field("task_title", STRING, line -> line.entry().title()),
                            field(
                                    "may_answer",
                                    BOOLEAN,
                                    "Whether the review is pending and the caller may decide it.",
                                    Line::mayAnswer)));
    private static final ObjectType<List<Line>> REVIEWS =
            object("AllReviews", field("reviews", JsonType.list(REVIEW), Function.identity()));

    private record Line(ReviewEntry entry, Scopes scopes) {
        private boolean mayAnswer() {
            return entry.review().isPending() && scopes.allows(Scope.PROCESS);
        }
    }

    private static final JsonType<Review.Status> STATUS = JsonType.constants(
            Review.Status.class,
            Review.Status::text,
            "must be pending, approved, rejected, answered, expired or cancelled");

    public static final RouteDescription LIST = RouteDescription.get("/api/v1/reviews", KEY)
            .named("listAllReviews", "List the reviews of all sandboxes")
            .text("""
                    Returns reviews of the sandboxes of the caller, and of sandboxes that the caller may watch. \
                    Newest first.""")
            .query("status", STATUS, "Only entries with this status.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .answers(200, "The newest reviews.", REVIEWS);

    private static final int MAX_PAGE = 1000;

    /// Approximate memory of a review, in bytes.
    private static final int REVIEW_BYTES = 4096;

    private final Reviews reviews;
    private final Rights rights;

    public AllReviewsHandler(Reviews reviews, Rights rights) {
        this.reviews = reviews;
        this.rights = rights;
    }

    public void handle(Exchange exchange) throws IOException {
        Optional<Review.Status> status = exchange.optionalQuery("status", STATUS);
        Principal caller = exchange.principal();
        var found = reviews.list(status, caller.user(), PageQuery.limit(exchange, MAX_PAGE));
        exchange.reserve((long) REVIEW_BYTES * found.size());
        var visible = found.stream()
                .flatMap(entry -> scopes(caller, entry)
                        .filter(scopes -> scopes.allows(Scope.SHELL_RO))
                        .map(scopes -> new Line(entry, scopes))
                        .stream())
                .toList();
        exchange.answer(200, REVIEWS, visible);
    }

    private Optional<Scopes> scopes(Principal caller, ReviewEntry entry) {
        return rights.of(caller, new Rights.Target(entry.review().sandbox(), entry.key()));
    }
}
