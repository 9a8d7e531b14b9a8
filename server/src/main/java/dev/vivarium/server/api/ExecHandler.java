package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.ProcessJson;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `POST /sandboxes/{sandbox_id}/exec`: runs a command as `/execute` does, or starts one that goes on without anybody
/// who waits for it. Thread-safe.
public final class ExecHandler {
    private final Callers callers;
    private final CommandCall call;

    public ExecHandler(Callers callers, CommandCall call) {
        this.callers = callers;
        this.call = call;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var start = ExecJson.readStart(exchange.json(), exchange.path("sandbox_id"));
        call.check(start.request());
        var sandbox = callers.awake(exchange.sandbox());
        if (start.detach()) {
            var process = call.detach(exchange, sandbox, start.request());
            exchange.answer(201, out -> ProcessJson.write(out, process.info()));
        } else {
            call.run(exchange, sandbox, start.request());
        }
    }
}
