package dev.vivarium.server.api;

import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `POST /create_session`: gives the thread a sandbox, or says which one it has. Thread-safe.
public final class CreateSessionHandler {
    private final Sandboxes sandboxes;
    private final SandboxRule rule;

    public CreateSessionHandler(Sandboxes sandboxes, SandboxRule rule) {
        this.sandboxes = sandboxes;
        this.rule = rule;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var request =
                SessionJson.readRequest(exchange.json(), exchange.principal().user(), rule.limits());
        if (!exchange.principal().mayActFor(request.user())) {
            throw new SandboxException(new Failure.NotAllowed("a user's key acts for its own user_id only"));
        }
        rule.check(request);
        var opened = sandboxes.open(request);
        var info = opened.sandbox().info();
        if (opened.created()) {
            exchange.answer(201, out -> SessionJson.write(out, info, SessionJson.Found.CREATED));
        } else {
            exchange.answer(409, out -> SessionJson.write(out, info, SessionJson.Found.EXISTING));
        }
    }
}
