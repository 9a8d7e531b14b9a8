package dev.vivarium.server.api;

import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.SessionJson;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.PauseSandbox;
import java.io.IOException;

/// `POST /sandboxes/{sandbox_id}/pause` and `…/resume`. Thread-safe.
public final class PauseHandler {
    public static final RouteDescription PAUSE = RouteDescription.post(
                    "/sandboxes/{sandbox_id}/pause", scoped(Scope.PROCESS))
            .named("pauseSandbox", "Pause a sandbox")
            .text("Freezes every process. Idempotent.")
            .answers(200, "The sandbox.", SessionJson.SESSION)
            .fails(409, 410, 500, 501, 502);

    public static final RouteDescription RESUME = RouteDescription.post(
                    "/sandboxes/{sandbox_id}/resume", scoped(Scope.PROCESS))
            .named("resumeSandbox", "Resume a sandbox")
            .text("Lets every process continue. Idempotent.")
            .answers(200, "The sandbox.", SessionJson.SESSION)
            .fails(409, 410, 500, 501, 502, 507);

    private final PauseSandbox pause;

    public PauseHandler(PauseSandbox pause) {
        this.pause = pause;
    }

    public void pause(Exchange exchange) throws IOException {
        answer(exchange, pause.pause(exchange.principal(), exchange.sandbox()));
    }

    public void resume(Exchange exchange) throws IOException {
        answer(exchange, pause.resume(exchange.principal(), exchange.sandbox()));
    }

    private static void answer(Exchange exchange, PauseSandbox.Result result) throws IOException {
        var found = SessionJson.Found.of(result.sandbox().status());
        exchange.answer(200, SessionJson.SESSION, new SessionJson.Session(result.sandbox(), found));
    }
}
