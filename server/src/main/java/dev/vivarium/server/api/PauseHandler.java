package dev.vivarium.server.api;

import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.SessionJson;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `POST /sandboxes/{sandbox_id}/pause` and `…/resume`: freezes and thaws every process. Thread-safe.
public final class PauseHandler {
    public void pause(Exchange exchange) throws IOException {
        exchange.allowQuery();
        exchange.sandbox().pause(PauseReason.by(exchange.principal().name()));
        answer(exchange, exchange.sandbox());
    }

    public void resume(Exchange exchange) throws IOException {
        exchange.allowQuery();
        exchange.sandbox().resume(PauseReason.by(exchange.principal().name()));
        answer(exchange, exchange.sandbox());
    }

    private static void answer(Exchange exchange, Sandbox sandbox) throws IOException {
        var info = sandbox.info();
        exchange.answer(200, out -> SessionJson.write(out, info, SessionJson.Found.ACTIVE));
    }
}
