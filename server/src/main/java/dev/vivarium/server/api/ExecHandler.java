package dev.vivarium.server.api;

import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.ExecJson;
import dev.vivarium.json.ProcessJson;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.RunCommand;
import java.io.IOException;

/// `POST /sandboxes/{sandbox_id}/exec`: runs a command as `/execute` does, or starts a detached command. Thread-safe.
public final class ExecHandler {
    public static final RouteDescription EXEC = RouteDescription.post(
                    "/sandboxes/{sandbox_id}/exec", scoped(Scope.PROCESS))
            .named("exec", "Run or start a command")
            .text("""
                    Like `/execute`. With `detach` the command runs in the background, and the server keeps the \
                    last 256 KiB of its output.""")
            .takes(ExecJson.START)
            .answers(200, """
                    The result, or the events for `Accept: text/event-stream` or `application/x-ndjson`.""", ExecJson.RESULT)
            .orStreams(ExecJson.EVENT)
            .answers(201, "The command runs in the background.", ProcessJson.PROCESS)
            .fails(429, "The sandbox runs its maximum number of commands.")
            .fails(409, 410, 500, 502, 507);

    private final SandboxResolver resolver;
    private final RunCommand commands;
    private final CommandResponse response;

    public ExecHandler(SandboxResolver resolver, RunCommand commands, CommandResponse response) {
        this.resolver = resolver;
        this.commands = commands;
        this.response = response;
    }

    public void handle(Exchange exchange) throws IOException {
        var start = ExecJson.readStart(exchange.json(), exchange.path("sandbox_id"));
        var request = response.request(start.request());
        var sandbox = resolver.resumed(exchange.sandbox());
        if (start.detach()) {
            var process = commands.detach(exchange.principal(), sandbox, request);
            exchange.answer(201, ProcessJson.PROCESS, process.info());
        } else {
            response.run(exchange, sandbox, request);
        }
    }
}
