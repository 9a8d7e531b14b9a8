package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.EndSandbox;
import java.io.IOException;
import java.util.function.Function;

/// `POST /cleanup`: ends a sandbox. Succeeds if the sandbox does not exist or the caller may not see it. Thread-safe.
public final class CleanupHandler {
    private static final ObjectType<String> REQUEST =
            object("Cleanup", Function.identity(), field("session_id", STRING)).closed();
    private static final ObjectType<String> CLEANED_UP =
            object("CleanedUp", constant("status", "cleaned_up"), field("session_id", STRING, Function.identity()));

    public static final RouteDescription CLEANUP = RouteDescription.post("/cleanup", KEY)
            .named("cleanup", "End a sandbox")
            .takes(REQUEST)
            .answers(200, "The sandbox has ended, or it did not exist.", CLEANED_UP)
            .fails(500);

    private final EndSandbox end;
    private final SandboxResolver resolver;

    public CleanupHandler(EndSandbox end, SandboxResolver resolver) {
        this.end = end;
        this.resolver = resolver;
    }

    public void handle(Exchange exchange) throws IOException {
        String id = exchange.json(REQUEST);
        try {
            var sandbox = resolver.find(exchange, id);
            exchange.markAudited();
            end.end(exchange.principal(), new EndSandbox.Request(sandbox, "cleaned up by request", CLEANUP.route()));
        } catch (SandboxException e) {
            if (!(e.failure() instanceof Failure.NoSuchSandbox)) {
                throw e;
            }
        }
        exchange.answer(200, CLEANED_UP, id);
    }
}
