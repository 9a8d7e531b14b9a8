package dev.vivarium.server.api;

import dev.vivarium.json.RunJson;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.EndSandbox;
import dev.vivarium.server.operation.PauseSandbox;
import java.io.IOException;

/// `DELETE /api/v1/sandboxes/{sandbox_id}`, `POST …/pause` and `…/resume`. Thread-safe.
public final class RunLifeHandler {
    private static final String END = "DELETE /api/v1/sandboxes/{sandbox_id}";

    private final Callers callers;
    private final EndSandbox end;
    private final PauseSandbox pause;

    public RunLifeHandler(Callers callers, EndSandbox end, PauseSandbox pause) {
        this.callers = callers;
        this.end = end;
        this.pause = pause;
    }

    public void end(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var sandbox = callers.find(exchange.principal(), exchange.path("sandbox_id"));
        end.end(exchange.principal(), new EndSandbox.Request(sandbox, "ended by request", END));
        exchange.answer(200, out -> {
            out.writeStringProperty("sandbox_id", sandbox.id().value());
            out.writeStringProperty("status", "terminated");
        });
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
        var info = result.sandbox();
        exchange.answer(200, out -> {
            out.writeStringProperty("sandbox_id", info.id().value());
            out.writeStringProperty("status", RunJson.status(info, result.run()));
            out.writeStringProperty("state", info.status().label());
        });
    }
}
