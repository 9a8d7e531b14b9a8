package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BYTES;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.Digests;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.files.FileMode;
import dev.vivarium.core.files.FileVersion;
import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.files.Upload;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.files.WriteCondition;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.telemetry.Telemetry;
import java.io.IOException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;

/// `PUT`, `DELETE` and `POST …?move_to=` on `/sandboxes/{sandbox_id}/files/{path…}`: changes files, with
/// preconditions. A rejected or interrupted write leaves no file. Thread-safe.
public final class WriteFileHandler {
    public static final RouteDescription PUT = RouteDescription.put(
                    "/sandboxes/{sandbox_id}/files/{path…}", scoped(Scope.FS_RW))
            .named("writeFile", "Write a file")
            .text("""
                    The body is the content of the file. The server creates missing directories and replaces the \
                    file atomically.""")
            .header("If-Match", "`*` or ETags. The change is made only if the file has one of them.")
            .header("If-None-Match", """
                    `*`: only if the file does not exist. ETags: only if the file has none of them.""")
            .header("X-File-Mode", STRING.with("pattern", "^[0-7]{1,4}$"), """
                    The permissions of the file in octal digits. By default an existing file keeps its \
                    permissions, and a new file has 644.""")
            .takes(true, "application/octet-stream", BYTES)
            .answers(201, "The file was created.")
            .withHeader("ETag", Preconditions.ETAG)
            .answers(204, "The file was replaced.")
            .withHeader("ETag", Preconditions.ETAG)
            .fails(507, """
                    The workspace has too little space, or the disk of the server has too little free space.""")
            .fails(409, 410, 412, 413, 502);

    public static final RouteDescription MOVE = RouteDescription.post(
                    "/sandboxes/{sandbox_id}/files/{path…}", scoped(Scope.FS_RW))
            .named("moveFile", "Move a file or directory")
            .text("The server creates missing directories.")
            .requiredQuery("move_to", "The new path, relative to the workspace.")
            .query("replace", QueryFlags.type(false), "Whether an existing file may be replaced.")
            .header("If-Match", "`*` or ETags. The change is made only if the file has one of them.")
            .header("If-None-Match", """
                    `*`: only if the file does not exist. ETags: only if the file has none of them.""")
            .answers(204, "The file was moved.")
            .fails(409, 410, 412, 502);

    public static final RouteDescription DELETE = RouteDescription.delete(
                    "/sandboxes/{sandbox_id}/files/{path…}", scoped(Scope.FS_RW))
            .named("removeFile", "Delete a file or directory")
            .query("recursive", QueryFlags.type(false), "Required for a directory that is not empty.")
            .header("If-Match", "`*` or ETags. The change is made only if the file has one of them.")
            .header("If-None-Match", """
                    `*`: only if the file does not exist. ETags: only if the file has none of them.""")
            .answers(204, "The file was deleted.")
            .fails(409, 410, 412, 502);

    private static final int PIECE = 64 * 1024;

    private final SandboxResolver resolver;
    private final Upload.Limits limits;
    private final Telemetry telemetry;

    public WriteFileHandler(SandboxResolver resolver, Upload.Limits limits, Telemetry telemetry) {
        this.resolver = resolver;
        this.limits = limits;
        this.telemetry = telemetry;
    }

    /// `PUT`: replaces the file with the body, or creates it.
    public void put(Exchange exchange) throws IOException {
        String path = WorkspacePath.of(exchange);
        var change = new Change(path, Preconditions.ofChange(exchange), mode(exchange));
        refuseParts(exchange);
        resolver.requireSpaceForUpload();
        exchange.usesFilesOf(exchange.sandbox());
        long start = System.nanoTime();
        try {
            refuseIfTooLarge(exchange);
            var files = resolver.resumed(exchange.sandbox()).files();
            boolean existed = existed(files, path, change.condition());
            String tag = receive(exchange, files, change, start);
            exchange.answerHeader("ETag", Preconditions.tag(tag));
            exchange.answer(existed ? 204 : 201);
        } catch (SandboxException e) {
            telemetry.uploadFailed(Optional.of(exchange.sandbox().info()), e.failure());
            throw e;
        }
    }

    /// Parameters of a write.
    private record Change(String path, WriteCondition condition, FileMode mode) {}

    private static FileMode mode(Exchange exchange) {
        return exchange.header(ReadFileHandler.MODE).map(FileMode::parse).orElse(FileMode.KEPT);
    }

    private String receive(Exchange exchange, Workspace files, Change change, long start) throws IOException {
        var digest = Digests.sha256();
        try (var upload = files.write(change.path(), limits, change.condition(), change.mode())) {
            var body = exchange.body();
            var piece = new byte[PIECE];
            int count;
            while ((count = body.read(piece)) >= 0) {
                digest.update(piece, 0, count);
                upload.write(piece, 0, count);
            }
            long size = upload.commit().size();
            var elapsed = Duration.ofNanos(System.nanoTime() - start);
            telemetry.fileUploaded(exchange.sandbox().info(), change.path(), size, elapsed);
            return upload.version()
                    .filter(_ -> size > FileVersion.ALWAYS_HASHED_BYTES)
                    .map(FileVersion::tag)
                    .orElseGet(() -> HexFormat.of().formatHex(digest.digest()));
        }
    }

    /// Reports whether the write replaces a file. Used only for the status; the guest enforces the condition.
    private static boolean existed(Workspace files, String path, WriteCondition condition) {
        return switch (condition) {
            case WriteCondition.Absent _ -> false;
            case WriteCondition.Present _, WriteCondition.OneOf _ -> true;
            case WriteCondition.Always _, WriteCondition.NoneOf _ ->
                files.find(path).isPresent();
        };
    }

    /// `DELETE`: removes a file or a directory. A directory with entries requires `recursive=true`.
    public void delete(Exchange exchange) throws IOException {
        boolean recursive = QueryFlags.of(exchange, "recursive", false);
        String path = WorkspacePath.of(exchange);
        WriteCondition condition = Preconditions.ofChange(exchange);
        exchange.usesFilesOf(exchange.sandbox());
        var files = resolver.resumed(exchange.sandbox()).files();
        files.remove(path, recursive ? ListDepth.ALL : ListDepth.TOP, condition);
        exchange.answer(204);
    }

    /// `POST …?move_to=`: moves a file or directory. Creates missing parent directories of the target.
    public void move(Exchange exchange) throws IOException {
        String to = exchange.query("move_to");
        boolean replace = QueryFlags.of(exchange, "replace", false);
        WriteCondition condition = Preconditions.ofChange(exchange);
        String path = WorkspacePath.of(exchange);
        exchange.usesFilesOf(exchange.sandbox());
        var files = resolver.resumed(exchange.sandbox()).files();
        var replacing = replace ? Workspace.Replacing.EXISTING_TARGET : Workspace.Replacing.NOTHING;
        try {
            files.move(path, to, replacing, condition);
        } catch (SandboxException e) {
            // Only if the source exists: a refused move must not leave new directories.
            int slash = to.lastIndexOf('/');
            if (slash <= 0 || !isMissing(e.failure()) || files.find(path).isEmpty()) {
                throw e;
            }
            files.mkdir(to.substring(0, slash));
            files.move(path, to, replacing, condition);
        }
        exchange.answer(204);
    }

    private static boolean isMissing(Failure failure) {
        return failure instanceof Failure.NoSuchFile;
    }

    /// Rejects `Content-Range`, because the body would replace the whole file.
    private static void refuseParts(Exchange exchange) {
        require(exchange.header("Content-Range").isEmpty(), "Content-Range", "is not supported: send the whole file");
    }

    private void refuseIfTooLarge(Exchange exchange) {
        long announced = exchange.contentLength().orElse(0);
        if (announced > limits.maxFileBytes()) {
            throw new SandboxException(new Failure.FileTooLarge(limits.maxFileBytes(), announced));
        }
    }
}
