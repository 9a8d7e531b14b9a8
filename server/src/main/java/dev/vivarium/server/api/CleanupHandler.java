package dev.vivarium.server.api;

import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `POST /cleanup`: ends a sandbox. To end one that is not there, or no longer, is a success; one that is somebody
/// else's is not there. Thread-safe.
public final class CleanupHandler {
    private final Sandboxes sandboxes;
    private final Callers callers;

    public CleanupHandler(Sandboxes sandboxes, Callers callers) {
        this.sandboxes = sandboxes;
        this.callers = callers;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var fields = exchange.json();
        String id = fields.string("session_id");
        fields.refuseOthers();
        try {
            var sandbox = callers.find(exchange.principal(), id);
            sandboxes.terminate(sandbox.id(), End.Cause.USER, "cleaned up by request");
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
