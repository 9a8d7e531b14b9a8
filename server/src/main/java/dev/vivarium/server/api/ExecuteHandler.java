package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `POST /execute`: runs a command and returns its result, or streams its events. Thread-safe.
public final class ExecuteHandler {
    private final Callers callers;
    private final CommandResponse response;

    public ExecuteHandler(Callers callers, CommandResponse response) {
        this.callers = callers;
        this.response = response;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var body = ExecJson.readRequest(exchange.json());
        var request = response.request(body);
        response.run(exchange, callers.require(exchange.principal(), body.sandbox()), request);
    }
}
