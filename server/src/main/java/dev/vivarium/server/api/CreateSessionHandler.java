package dev.vivarium.server.api;

import dev.vivarium.json.SessionJson;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.CreateSandbox;
import java.io.IOException;

/// `POST /create_session`: 201 with a new sandbox, 409 with the one that the thread has. Thread-safe.
public final class CreateSessionHandler {
    private final CreateSandbox create;

    public CreateSessionHandler(CreateSandbox create) {
        this.create = create;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var user = exchange.principal().user();
        var request =
                SessionJson.readRequest(exchange.json(), user, create.rule().limits());
        var result = create.create(exchange.principal(), request);
        if (result.created()) {
            exchange.answer(201, out -> SessionJson.write(out, result.sandbox(), SessionJson.Found.CREATED));
        } else {
            exchange.answer(409, out -> SessionJson.write(out, result.sandbox(), SessionJson.Found.EXISTING));
        }
    }
}
