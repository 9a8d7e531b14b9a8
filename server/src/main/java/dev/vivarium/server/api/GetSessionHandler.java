package dev.vivarium.server.api;

import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.util.OptionalLong;

/// `GET /get_session`: the thread's sandbox, if it has one. Thread-safe.
public final class GetSessionHandler {
    private final Sandboxes sandboxes;

    public GetSessionHandler(Sandboxes sandboxes) {
        this.sandboxes = sandboxes;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery("thread_id");
        var thread = new ThreadId(exchange.query("thread_id"));
        var sandbox = sandboxes
                .find(thread)
                .filter(found -> exchange.principal().mayActFor(found.info().user()))
                .orElseThrow(() -> new SandboxException(new Failure.NoSandboxForThread(thread)));
        var files = files(sandbox);
        var info = sandbox.info();
        exchange.answer(200, out -> {
            SessionJson.write(out, info, SessionJson.Found.ACTIVE);
            files.ifPresent(count -> out.writeNumberProperty("files_count", count));
        });
    }

    /// A frozen guest cannot count.
    private static OptionalLong files(Sandbox sandbox) {
        return sandbox.info().status() == Status.RUNNING
                ? OptionalLong.of(sandbox.look().list("", ListDepth.ALL, 1).totalFiles())
                : OptionalLong.empty();
    }
}
