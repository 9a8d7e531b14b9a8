package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BYTES;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.RunForensics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/// `GET /api/v1/runs/{run_id}/forensics`: the state of a run at its abnormal end. Thread-safe.
public final class ForensicsHandler {
    public static final RouteDescription GET = RouteDescription.get("/api/v1/runs/{run_id}/forensics", KEY)
            .named("getRunForensics", "Download the forensics of a run")
            .text("""
                    A ZIP file with the last 100 events, the processes and their states, memory and out-of-memory \
                    kills, the last output of the worker, and the disk usage. The server collects it when a worker \
                    stops responding or crashes.""")
            .answers(200, "The bundle.", "application/zip", BYTES)
            .withHeader("Content-Length", INT)
            .withHeader("Content-Disposition", STRING)
            .fails(403, 404);

    private final RunForensics forensics;

    public ForensicsHandler(RunForensics forensics) {
        this.forensics = forensics;
    }

    public void get(Exchange exchange) throws IOException {
        Path bundle = forensics.find(exchange.principal(), exchange.path("run_id"));
        exchange.answerHeader(
                "Content-Disposition",
                ContentDisposition.attachment(
                        "forensics-" + bundle.getFileName().toString()));
        try (var in = Files.newInputStream(bundle);
                var out = exchange.stream(200, "application/zip", OptionalLong.of(Files.size(bundle)))) {
            in.transferTo(out);
        }
    }
}
