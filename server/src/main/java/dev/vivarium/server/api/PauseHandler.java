package dev.vivarium.server.api;

import dev.vivarium.json.SessionJson;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.PauseSandbox;
import java.io.IOException;

/// `POST /sandboxes/{sandbox_id}/pause` and `…/resume`. Thread-safe.
public final class PauseHandler {
    private final PauseSandbox pause;

    public PauseHandler(PauseSandbox pause) {
        this.pause = pause;
    }

    public void pause(Exchange exchange) throws IOException {
        exchange.allowQuery();
        answer(exchange, pause.pause(exchange.principal(), exchange.sandbox()));
    }

    public void resume(Exchange exchange) throws IOException {
        exchange.allowQuery();
        answer(exchange, pause.resume(exchange.principal(), exchange.sandbox()));
    }

    private static void answer(Exchange exchange, PauseSandbox.Result result) throws IOException {
        exchange.answer(200, out -> SessionJson.write(out, result.sandbox(), SessionJson.Found.ACTIVE));
    }
}
