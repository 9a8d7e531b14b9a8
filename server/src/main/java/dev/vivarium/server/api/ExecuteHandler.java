package dev.vivarium.server.api;

import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.ExecJson;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;

/// `POST /execute`: runs a command and returns its result, or streams its events. Thread-safe.
public final class ExecuteHandler {
    public static final RouteDescription EXECUTE = RouteDescription.post("/execute", KEY)
            .named("execute", "Run a command")
            .text("""
                    Runs `bash -c` as `sandboxuser` in `/workspace`. A non-zero exit code, a timeout and a kill \
                    are results, not errors. Each output stream of a result is truncated after 10 MiB. Events \
                    are not truncated. If the client closes a stream of events, the server kills the command.""")
            .takes(ExecJson.EXECUTE)
            .answers(200, """
                    The result, or the events for `Accept: text/event-stream` or `application/x-ndjson`.""", ExecJson.RESULT)
            .orStreams(ExecJson.EVENT)
            .fails(429, "The sandbox runs its maximum number of commands.")
            .fails(404, 409, 410, 500, 502, 507);

    private final SandboxResolver resolver;
    private final CommandResponse response;

    public ExecuteHandler(SandboxResolver resolver, CommandResponse response) {
        this.resolver = resolver;
        this.response = response;
    }

    public void handle(Exchange exchange) throws IOException {
        var body = exchange.json(ExecJson.EXECUTE);
        var request = response.request(body);
        response.run(exchange, resolver.require(exchange, body.sandbox()), request);
    }
}
