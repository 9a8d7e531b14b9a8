package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BYTES;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.files.Upload;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.FileJson;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.telemetry.Telemetry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/// `POST /upload_file`: streams a file from the multipart body to the workspace. A rejected or interrupted upload
/// leaves no file. Thread-safe.
public final class UploadFileHandler {
    private static final ObjectType<Object> FORM =
            object("", field("session_id", STRING), field("file", BYTES), optional("filename", STRING, """
                    The path of the file, relative to the workspace. The server creates missing directories. Default: \
                    the file name of the part."""));

    public static final RouteDescription UPLOAD = RouteDescription.post("/upload_file", KEY)
            .named("uploadFile", "Upload a file to the workspace")
            .text("""
                    The server streams the body. The parts may have any order, but for a file of more than 256 \
                    KiB the part `filename` must precede the file.""")
            .takes(true, "multipart/form-data", FORM)
            .answers(200, "The file was written.", FileJson.UPLOADED)
            .fails(507, "The workspace is full, or the disk of the server has too little free space.")
            .fails(403, 404, 409, 410, 413, 415, 502);

    private final SandboxResolver resolver;
    private final Upload.Limits limits;
    private final Telemetry telemetry;
    private final Path spool;

    /// `spool` is the directory for a large file that precedes its session in the form.
    public UploadFileHandler(SandboxResolver resolver, Upload.Limits limits, Telemetry telemetry, Path spool) {
        this.resolver = resolver;
        this.limits = limits;
        this.telemetry = telemetry;
        this.spool = spool;
    }

    public void handle(Exchange exchange) throws IOException {
        resolver.requireSpaceForUpload();
        long start = System.nanoTime();
        try (var form = new UploadForm(id -> target(exchange, id), limits, spool)) {
            var uploaded = receive(exchange, form);
            telemetry.fileUploaded(
                    uploaded.sandbox().info(),
                    uploaded.entry().name(),
                    uploaded.entry().size(),
                    Duration.ofNanos(System.nanoTime() - start));
            exchange.answer(200, FileJson.UPLOADED, uploaded.entry());
        }
    }

    private Sandbox target(Exchange exchange, String id) {
        Sandbox sandbox = resolver.require(exchange, id);
        exchange.usesFilesOf(sandbox);
        return sandbox;
    }

    private UploadForm.Uploaded receive(Exchange exchange, UploadForm form) throws IOException {
        try {
            Multipart.read(exchange, form);
            return form.commit();
        } catch (SandboxException e) {
            telemetry.uploadFailed(form.sandbox().map(Sandbox::info), e.failure());
            throw e;
        }
    }
}
