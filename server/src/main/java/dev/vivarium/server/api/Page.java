package dev.vivarium.server.api;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.util.Optional;

/// How much of a list a request asks for. Stateless.
final class Page {
    private static final int ORDINARY = 100;

    private Page() {}

    static int limit(Exchange exchange, int most) {
        long limit = number(exchange, "limit").orElse((long) Math.min(ORDINARY, most));
        if (limit < 1 || limit > most) {
            throw new SandboxException(new Failure.InvalidRequest("limit", "must be between 1 and " + most));
        }
        return (int) limit;
    }

    static Optional<Long> number(Exchange exchange, String name) {
        try {
            return exchange.optionalQuery(name).map(Long::parseLong);
        } catch (NumberFormatException e) {
            throw new SandboxException(new Failure.InvalidRequest(name, "must be a whole number"), e);
        }
    }
}
