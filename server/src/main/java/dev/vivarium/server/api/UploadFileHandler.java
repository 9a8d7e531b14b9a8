package dev.vivarium.server.api;

import dev.vivarium.core.files.Upload;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.FileJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.settings.CallConfig;
import dev.vivarium.server.telemetry.Telemetry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/// `POST /upload_file`: puts a file into the workspace, streamed from the multipart body to the guest. What is refused
/// or broken off leaves nothing behind. Thread-safe.
public final class UploadFileHandler {
    /// What a form may hold beside the file, generously.
    private static final long FORM_BYTES = 64 * 1024;

    private final Callers callers;
    private final CallConfig config;
    private final Telemetry telemetry;
    private final Path spool;

    /// `spool` is where a large file waits when the form names its session only afterwards.
    public UploadFileHandler(Callers callers, CallConfig config, Telemetry telemetry, Path spool) {
        this.callers = callers;
        this.config = config;
        this.telemetry = telemetry;
        this.spool = spool;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        refuseIfTooLarge(exchange);
        callers.requireSpaceForUpload();
        long start = System.nanoTime();
        var limits = new Upload.Limits(config.maxFileBytes(), config.maxFiles(), config.maxWorkspaceBytes());
        try (var form = new UploadForm(id -> target(exchange, id), limits, spool)) {
            var uploaded = receive(exchange, form);
            telemetry.fileUploaded(
                    uploaded.sandbox().info(),
                    uploaded.name(),
                    uploaded.entry().size(),
                    Duration.ofNanos(System.nanoTime() - start));
            exchange.answer(200, out -> FileJson.writeUploaded(out, uploaded.name(), uploaded.entry()));
        }
    }

    private Sandbox target(Exchange exchange, String id) {
        Sandbox sandbox = callers.require(exchange.principal(), id);
        exchange.usesFilesOf(sandbox);
        return sandbox;
    }

    private UploadForm.Uploaded receive(Exchange exchange, UploadForm form) throws IOException {
        try {
            Multipart.read(exchange, form);
            return form.commit();
        } catch (SandboxException e) {
            if (isLimit(e.failure())) {
                form.sandbox().ifPresent(sandbox -> telemetry.limitExceeded(sandbox.info(), e.failure()));
            }
            throw e;
        }
    }

    private void refuseIfTooLarge(Exchange exchange) {
        long announced = exchange.contentLength().orElse(0);
        if (announced > config.maxFileBytes() + FORM_BYTES) {
            throw new SandboxException(new Failure.FileTooLarge(config.maxFileBytes(), announced));
        }
    }

    private static boolean isLimit(Failure failure) {
        return failure instanceof Failure.FileTooLarge
                || failure instanceof Failure.TooManyFiles
                || failure instanceof Failure.WorkspaceFull
                || failure instanceof Failure.DiskFull;
    }
}
