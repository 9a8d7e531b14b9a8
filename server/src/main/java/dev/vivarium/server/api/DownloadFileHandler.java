package dev.vivarium.server.api;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.telemetry.Telemetry;
import java.io.IOException;
import java.time.Duration;
import java.util.OptionalLong;

/// `POST /download_file`: the bytes of a file in the workspace. Thread-safe.
public final class DownloadFileHandler {
    private final Callers callers;
    private final Telemetry telemetry;

    public DownloadFileHandler(Callers callers, Telemetry telemetry) {
        this.callers = callers;
        this.telemetry = telemetry;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var fields = exchange.json();
        String id = fields.string("session_id");
        String name = fields.string("filename");
        fields.refuseOthers();
        if (name.isEmpty()) {
            throw new SandboxException(new Failure.InvalidRequest("filename", "must not be empty"));
        }
        var sandbox = callers.require(exchange.principal(), id);
        exchange.usesFilesOf(sandbox);
        long start = System.nanoTime();
        try (var download = sandbox.files().read(name)) {
            exchange.answerHeader("Content-Disposition", ContentDisposition.attachment(name));
            exchange.answerHeader("Content-Security-Policy", "sandbox");
            long size = download.entry().size();
            try (var out = exchange.stream(200, "application/octet-stream", OptionalLong.of(size))) {
                download.transferTo(out);
            }
            telemetry.fileDownloaded(sandbox.info(), name, size, Duration.ofNanos(System.nanoTime() - start));
        }
    }
}
