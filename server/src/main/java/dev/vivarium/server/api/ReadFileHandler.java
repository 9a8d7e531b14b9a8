package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BYTES;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.files.ListDepth;
import dev.vivarium.core.files.PackedListing;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.json.FileJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.telemetry.Telemetry;
import java.io.IOException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalLong;

/// `GET /sandboxes/{sandbox_id}/files/{path…}`: a file, a range of it, or a directory listing. Thread-safe.
///
/// The content matches the `ETag`: if the file changes during the response, the server closes the connection before the
/// last byte.
public final class ReadFileHandler {
    public static final RouteDescription READ = RouteDescription.get(
                    "/sandboxes/{sandbox_id}/files/{path…}", scoped(Scope.FS_RO))
            .named("readFile", "Read a file or list a directory")
            .text("""
                    `HEAD` is supported. If the file changes during the response, the server closes the \
                    connection before the last byte. The media type follows the extension of the file name.""")
            .query("recursive", QueryFlags.type(false), "`true` lists a directory recursively.")
            .header("If-None-Match", "ETags that the caller has. If the file has one of them, the status is 304.")
            .header("Range", "One byte range. For several ranges the response is the whole file.")
            .header("If-Range", "An ETag. The range applies only if the file has this ETag.")
            .header("Want-Repr-Digest", """
                    `sha-256=1`: the response has the SHA-256 of the content in `Repr-Digest`, for a file of at \
                    most 1 GiB.""")
            .answers(
                    200,
                    "The content of a file, or the entries of a directory, newest first.",
                    "application/octet-stream",
                    BYTES)
            .also("application/json", FileJson.DIRECTORY)
            .withHeader("X-File-Mode", STRING.with("description", "The permissions of the file, in octal digits."))
            .withHeader("ETag", Preconditions.ETAG)
            .answers(206, "The byte range.", "application/octet-stream", BYTES)
            .withHeader("ETag", Preconditions.ETAG)
            .answers(304, "The caller has the current content.")
            .withHeader("ETag", Preconditions.ETAG)
            .fails(416, "The range is outside the file.")
            .fails(409, 410, 412, 502);

    /// Header with the permissions of a file in octal digits, in requests and responses.
    static final String MODE = "X-File-Mode";

    private static final int PERMISSIONS = 0777;

    private static final int MAX_ENTRIES = 100_000;

    private final SandboxResolver resolver;
    private final Telemetry telemetry;

    public ReadFileHandler(SandboxResolver resolver, Telemetry telemetry) {
        this.resolver = resolver;
        this.telemetry = telemetry;
    }

    public void handle(Exchange exchange) throws IOException {
        boolean recursive = QueryFlags.of(exchange, "recursive", false);
        String path = WorkspacePath.of(exchange);
        exchange.usesFilesOf(exchange.sandbox());
        var files = resolver.resumed(exchange.sandbox()).files();
        Optional<FileContent> content = path.isEmpty() ? Optional.empty() : find(files, path);
        if (content.isPresent()) {
            content.get().bytes().ifPresent(bytes -> exchange.reserve(bytes.length));
            send(exchange, files, path, content.get());
        } else {
            var listing = files.list(path, recursive ? ListDepth.ALL : ListDepth.TOP, MAX_ENTRIES, exchange::reserve);
            list(exchange, path, listing);
        }
    }

    /// Returns the file at `path`. Empty if it is a directory.
    private static Optional<FileContent> find(Workspace files, String path) {
        try {
            return Optional.of(FileContent.of(files, path));
        } catch (SandboxException e) {
            if (e.failure() instanceof Failure.WrongFileType && isDirectory(files, path)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static boolean isDirectory(Workspace files, String path) {
        try {
            files.list(path, ListDepth.TOP, 1);
            return true;
        } catch (SandboxException e) {
            return false;
        }
    }

    private static void list(Exchange exchange, String path, PackedListing listing) throws IOException {
        var listed = new FileJson.Listed(path, exchange.sandbox().id(), listing.totals(), listing.entries());
        exchange.answer(200, FileJson.DIRECTORY, listed);
    }

    private void send(Exchange exchange, Workspace files, String path, FileContent content) throws IOException {
        Preconditions.requireMatch(exchange, path, content.tag());
        describe(exchange, path, content);
        if (wantsDigest(exchange)) {
            content.sha256(files, path).ifPresent(sha256 -> exchange.answerHeader("Repr-Digest", digest(sha256)));
        }
        if (Preconditions.isKnown(exchange, content.tag())) {
            exchange.answer(304);
            return;
        }
        Optional<ByteRange> range = range(exchange, content);
        if (range.isPresent() && !range.get().isSatisfiable()) {
            refuse(exchange, content.size());
        } else if (exchange.isHead()) {
            exchange.answerHeader("Content-Type", MediaTypes.of(path));
            exchange.answerHeader("Content-Length", Long.toString(content.size()));
            exchange.answer(200);
        } else if (range.isPresent()) {
            sendPart(exchange, files, path, content, range.get());
        } else {
            sendAll(exchange, files, path, content);
        }
    }

    /// RFC 9530: the hash of a file whose ETag is not its hash, if the client asks for it.
    private static boolean wantsDigest(Exchange exchange) {
        return exchange.headerList("Want-Repr-Digest")
                .filter(wanted -> wanted.contains("sha-256"))
                .isPresent();
    }

    private static String digest(String sha256) {
        return "sha-256=:" + Base64.getEncoder().encodeToString(HexFormat.of().parseHex(sha256)) + ":";
    }

    private static void describe(Exchange exchange, String path, FileContent content) {
        var modified = content.entry().modified().atZone(ZoneOffset.UTC);
        exchange.answerHeader("ETag", (content.isStrong() ? "" : "W/") + Preconditions.tag(content.tag()));
        exchange.answerHeader("Last-Modified", DateTimeFormatter.RFC_1123_DATE_TIME.format(modified));
        exchange.answerHeader(MODE, Integer.toOctalString(content.entry().mode() & PERMISSIONS));
        exchange.answerHeader("Accept-Ranges", "bytes");
        exchange.answerHeader("Cache-Control", "private, no-cache");
        // A browser must not run a file as a page of this server, regardless of its name and content.
        exchange.answerHeader("Content-Disposition", ContentDisposition.attachment(path));
        exchange.answerHeader("Content-Security-Policy", "sandbox");
    }

    /// Returns the requested range. Empty if `If-Range` names another content.
    private static Optional<ByteRange> range(Exchange exchange, FileContent content) {
        Optional<String> onlyOf = exchange.header("If-Range");
        if (exchange.isHead() || onlyOf.isPresent() && !onlyOf.get().strip().equals(Preconditions.tag(content.tag()))) {
            return Optional.empty();
        }
        return exchange.header("Range").flatMap(header -> ByteRange.of(header, content.size()));
    }

    private static void refuse(Exchange exchange, long size) throws IOException {
        exchange.answerHeader("Content-Range", "bytes */" + size);
        exchange.refuse(new FileFailure.RangeNotSatisfiable(size));
    }

    private void sendAll(Exchange exchange, Workspace files, String path, FileContent content) throws IOException {
        long start = System.nanoTime();
        // If sending fails, the stream stays open: a truncated response must not look complete.
        var out = exchange.stream(200, MediaTypes.of(path), OptionalLong.of(content.size()));
        content.sendAll(files, path, out);
        out.close();
        telemetry.fileDownloaded(
                exchange.sandbox().info(), path, content.size(), Duration.ofNanos(System.nanoTime() - start));
    }

    private static void sendPart(Exchange exchange, Workspace files, String path, FileContent content, ByteRange range)
            throws IOException {
        exchange.answerHeader("Content-Range", range.of(content.size()));
        var out = exchange.stream(206, MediaTypes.of(path), OptionalLong.of(range.length()));
        content.send(files, path, range, out);
        out.close();
    }
}
