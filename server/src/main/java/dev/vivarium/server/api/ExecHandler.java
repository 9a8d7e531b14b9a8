package dev.vivarium.server.api;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.ProcessJson;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.RunCommand;
import java.io.IOException;

/// `POST /sandboxes/{sandbox_id}/exec`: runs a command as `/execute` does, or starts one that runs on its own.
/// Thread-safe.
public final class ExecHandler {
    private final Callers callers;
    private final RunCommand commands;
    private final CommandResponse response;

    public ExecHandler(Callers callers, RunCommand commands, CommandResponse response) {
        this.callers = callers;
        this.commands = commands;
        this.response = response;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var start = ExecJson.readStart(exchange.json(), exchange.path("sandbox_id"));
        var request = response.request(start.request());
        var sandbox = callers.awake(exchange.sandbox());
        if (start.detach()) {
            var process = commands.detach(exchange.principal(), sandbox, request);
            exchange.answer(201, out -> ProcessJson.write(out, process.info()));
        } else {
            response.run(exchange, sandbox, request);
        }
    }
}
