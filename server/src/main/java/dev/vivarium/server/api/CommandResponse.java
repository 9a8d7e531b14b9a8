package dev.vivarium.server.api;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.ExecJson;
import dev.vivarium.model.Exit;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.RunCommand;
import java.io.IOException;
import java.nio.file.Path;

/// Response to a request that runs a command: its result, or its events if the client accepts a stream. Thread-safe.
///
/// If the client closes its connection, the server kills the command with all its descendants. It detects this by a
/// failed write to a stream, or because the wait for a result is cancelled.
public final class CommandResponse {
    private final RunCommand commands;
    private final SpooledOutput.Position outputs;

    /// @param directory for the files of long outputs
    /// @param budget    for the bytes in these files
    public CommandResponse(RunCommand commands, Path directory, ByteBudget budget) {
        this.commands = commands;
        this.outputs = new SpooledOutput.Position(directory, budget);
    }

    /// Returns the validated command of a request body.
    RunCommand.Request request(ExecJson.Request body) {
        return commands.request(body.script(), body.command(), body.stdin());
    }

    void run(Exchange exchange, Sandbox sandbox, RunCommand.Request request) throws IOException {
        var format = EventStream.Format.accepted(exchange);
        if (format.isPresent()) {
            stream(exchange, format.get(), sandbox, request);
        } else {
            collect(exchange, sandbox, request);
        }
    }

    private void collect(Exchange exchange, Sandbox sandbox, RunCommand.Request request) throws IOException {
        // The command is closed before the response is written, so that a slow client holds no command slot.
        try (var output = outputs.open(exchange)) {
            var exit = await(exchange, sandbox, request, output);
            exchange.answer(200, out -> output.write(out, exit));
        }
    }

    private Exit await(Exchange exchange, Sandbox sandbox, RunCommand.Request request, SpooledOutput output) {
        try (var command = commands.start(exchange.principal(), sandbox, request)) {
            try {
                return output.await(command);
            } catch (SandboxException e) {
                command.fail(e.failure());
                throw e;
            }
        }
    }

    private void stream(Exchange exchange, EventStream.Format format, Sandbox sandbox, RunCommand.Request request)
            throws IOException {
        try (var command = commands.start(exchange.principal(), sandbox, request.withUnlimitedOutput())) {
            try (var stream = ExecStream.begin(EventStream.begin(exchange, format), command)) {
                stream.run();
            } catch (IOException e) {
                command.abandon();
                throw e;
            }
        }
    }
}
