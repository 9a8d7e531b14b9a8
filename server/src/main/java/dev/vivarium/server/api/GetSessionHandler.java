package dev.vivarium.server.api;

import dev.vivarium.json.SessionJson;
import dev.vivarium.model.ThreadId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.GetSandbox;
import java.io.IOException;

/// `GET /get_session`. Thread-safe.
public final class GetSessionHandler {
    private final GetSandbox get;

    public GetSessionHandler(GetSandbox get) {
        this.get = get;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery("thread_id");
        var result = get.get(exchange.principal(), new ThreadId(exchange.query("thread_id")));
        exchange.answer(200, out -> {
            SessionJson.write(out, result.sandbox(), SessionJson.Found.ACTIVE);
            result.files().ifPresent(count -> out.writeNumberProperty("files_count", count));
        });
    }
}
