package dev.vivarium.sdk.http;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.sdk.engine.Run;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Command on a server, read from its event stream. Disconnecting cancels it. Confined to the reading thread, except
/// for [#close].
final class HttpRun implements Run {
    private final Response response;
    private final BufferedReader lines;
    private boolean finished;

    HttpRun(Response response) {
        this.response = response;
        this.lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    @Override
    public ExecEvent next() {
        if (finished) {
            throw new IllegalStateException("the command has ended; there is no further event");
        }
        Optional<ExecEvent> event = Optional.empty();
        while (event.isEmpty()) {
            event = ExecJson.readEvent(line());
        }
        finished = event.get().isLast();
        return event.get();
    }

    private JsonFields line() {
        try {
            String line = lines.readLine();
            if (line == null) {
                throw response.unreachable("the connection broke off while the command ran");
            }
            return Json.answer(line);
        } catch (IOException e) {
            throw response.failed(e);
        }
    }

    @Override
    public void close() {
        response.close();
    }
}
