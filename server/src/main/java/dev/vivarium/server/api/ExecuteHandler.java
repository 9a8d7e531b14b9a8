package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `POST /execute`: runs a command and answers with its result, or with its events as they happen. Thread-safe.
public final class ExecuteHandler {
    private final Callers callers;
    private final CommandCall call;

    public ExecuteHandler(Callers callers, CommandCall call) {
        this.callers = callers;
        this.call = call;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var request = ExecJson.readRequest(exchange.json());
        call.check(request);
        call.run(exchange, callers.require(exchange.principal(), request.sandbox()), request);
    }
}
