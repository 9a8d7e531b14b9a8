package dev.vivarium.server.api;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.EndSandbox;
import java.io.IOException;

/// `POST /cleanup`: ends a sandbox. A sandbox that does not exist or is not the caller's counts as ended. Thread-safe.
public final class CleanupHandler {
    private static final String ROUTE = "POST /cleanup";

    private final EndSandbox end;
    private final Callers callers;

    public CleanupHandler(EndSandbox end, Callers callers) {
        this.end = end;
        this.callers = callers;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var fields = exchange.json();
        String id = fields.string("session_id");
        fields.refuseOthers();
        try {
            var sandbox = callers.find(exchange.principal(), id);
            end.end(exchange.principal(), new EndSandbox.Request(sandbox, "cleaned up by request", ROUTE));
        } catch (SandboxException e) {
            if (!(e.failure() instanceof Failure.NoSuchSandbox)) {
                throw e;
            }
        }
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "cleaned_up");
            out.writeStringProperty("session_id", id);
        });
    }
}
