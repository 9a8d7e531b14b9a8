package dev.vivarium.server.api;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.json.JsonType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.ListPlace;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.time.Duration;
import java.util.Optional;

/// Query parameters of lists: the size and the beginning of a page, and the time to wait. Stateless.
final class PageQuery {
    private static final int ORDINARY = 100;
    private static final long MAX_WAIT = 60;

    static final JsonType<?> LIMIT = JsonType.INT.range(1, 1000).with("default", ORDINARY);
    static final JsonType<?> WAIT = JsonType.INT.range(0, MAX_WAIT).with("default", 0);

    private PageQuery() {}

    static int limit(Exchange exchange, int max) {
        long limit = number(exchange, "limit").orElse((long) Math.min(ORDINARY, max));
        require(limit >= 1 && limit <= max, "limit", "must be between 1 and " + max);
        return (int) limit;
    }

    /// Returns the place after which the page begins.
    static Optional<ListPlace> cursor(Exchange exchange) {
        return exchange.optionalQuery("cursor").map(ListPlace::of);
    }

    static Duration wait(Exchange exchange) {
        long seconds = number(exchange, "wait").orElse(0L);
        require(seconds >= 0 && seconds <= MAX_WAIT, "wait", "must be 0 to " + MAX_WAIT + " seconds");
        return Duration.ofSeconds(seconds);
    }

    static Optional<Long> number(Exchange exchange, String name) {
        try {
            return exchange.optionalQuery(name).map(Long::parseLong);
        } catch (NumberFormatException e) {
            throw new SandboxException(new Failure.InvalidRequest(name, "must be a whole number"), e);
        }
    }
}
