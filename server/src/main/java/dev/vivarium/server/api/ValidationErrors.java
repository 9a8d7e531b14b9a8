package dev.vivarium.server.api;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Route;

/// What agents and their workers send is refused with 422, whatever is wrong with it. Stateless.
public final class ValidationErrors {
    private static final int STATUS = 422;

    private ValidationErrors() {}

    /// The operation with 422 where it would have had 400.
    public static Route.Operation insteadOfInvalid(Route.Operation operation) {
        return exchange -> {
            try {
                operation.handle(exchange);
            } catch (SandboxException e) {
                if (!(e.failure() instanceof Failure.InvalidRequest)) {
                    throw e;
                }
                exchange.refuse(STATUS, e.failure());
            }
        };
    }
}
