package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BYTES;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.ObjectType;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.telemetry.Telemetry;
import java.io.IOException;
import java.time.Duration;
import java.util.OptionalLong;

/// `POST /download_file`: the bytes of a file in the workspace. Thread-safe.
public final class DownloadFileHandler {
    private static final ObjectType<Download> REQUEST = object(
                    "Download",
                    Download::new,
                    field("session_id", STRING),
                    field("filename", STRING.with("minLength", 1), "Relative to the workspace."))
            .closed();

    private record Download(String session, String name) {
        Download {
            require(!name.isEmpty(), "filename", "must not be empty");
        }
    }

    public static final RouteDescription DOWNLOAD = RouteDescription.post("/download_file", KEY)
            .named("downloadFile", "Download a file from the workspace")
            .takes(REQUEST)
            .answers(200, "The content of the file.", "application/octet-stream", BYTES)
            .withHeader("Content-Length", INT)
            .withHeader("Content-Disposition", STRING)
            .fails(403, 404, 409, 410, 502);

    private final SandboxResolver resolver;
    private final Telemetry telemetry;

    public DownloadFileHandler(SandboxResolver resolver, Telemetry telemetry) {
        this.resolver = resolver;
        this.telemetry = telemetry;
    }

    public void handle(Exchange exchange) throws IOException {
        var request = exchange.json(REQUEST);
        String name = request.name();
        var sandbox = resolver.require(exchange, request.session());
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
