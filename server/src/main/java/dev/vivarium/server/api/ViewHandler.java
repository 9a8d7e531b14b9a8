package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.kept;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.watch.FileHistory;
import dev.vivarium.core.watch.FileHistory.Moment;
import dev.vivarium.core.watch.TextDiff;
import dev.vivarium.core.watch.Version;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.operation.ReadTerminal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/// Read-only views of a sandbox: `/api/v1/sandboxes/{sandbox_id}/files`, `…/files/{path…}`, `…/diff` and
/// `…/terminal`. A view does not resume a paused sandbox and does not count as activity. Thread-safe.
public final class ViewHandler {
    private static final ObjectType<View> FILE_VIEW = object(
            "FileView",
            field("path", STRING, View::path),
            field("size", LONG, "The same as `size_bytes`.", View::size),
            field("size_bytes", LONG, View::size),
            field("hash", STRING, "The same as `sha256`.", View::sha256),
            field("sha256", STRING, View::sha256),
            field("modified_at", TIME, View::modified),
            field("content", STRING, view -> view.text().content()),
            field(
                    "encoding",
                    STRING.with("enum", List.of("utf-8", "base64")),
                    view -> view.text().encoding()),
            optional("seq", LONG, "The event of this version. Only with `at_seq`.", View::seq));
    private static final ObjectType<Difference> FILE_DIFF = object(
            "FileDiff",
            field("path", STRING, Difference::path),
            field("from_seq", LONG, Difference::from),
            field("to_seq", LONG, Difference::to),
            field("changed", BOOLEAN, Difference::changed),
            field("diff", STRING, Difference::diff));

    private record View(String path, long size, String sha256, Instant modified, Text text, Optional<Long> seq) {}

    private record Difference(String path, long from, long to, boolean changed, String diff) {}

    /// Content of a file: text, or base64 if the bytes are not UTF-8.
    private record Text(String content, String encoding) {
        static Text of(byte[] bytes) {
            try {
                var text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
                return new Text(text.toString(), "utf-8");
            } catch (CharacterCodingException e) {
                return new Text(Base64.getEncoder().encodeToString(bytes), "base64");
            }
        }
    }

    public static final RouteDescription TREE = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}/files", scoped(Scope.FS_RO))
            .named("viewTree", "List the workspace to a depth")
            .text("The call does not resume a paused sandbox and does not count as activity.")
            .query(
                    "path",
                    STRING.with("default", ""),
                    "The directory, relative to the workspace, or as `/workspace/…`.")
            .query("depth", INT.range(1, 64).with("default", 3), "Number of levels.")
            .query("recursive", BOOLEAN, "`true` for all levels, `false` for the first one. Instead of `depth`.")
            .answers(200, "Ordered by name.", ViewJson.TREE)
            .fails(409, "The sandbox is paused.");

    public static final RouteDescription FILE = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}/files/{path…}", kept(Scope.FS_RO))
            .named("viewFile", "Read a file as it is, or as it was after an event")
            .text("""
                    With `at_seq` the sandbox may have ended; then only its owner may read. The call does not \
                    resume a paused sandbox and does not count as activity.""")
            .query("at_seq", INT.with("minimum", 0), """
                    The content when this event was the newest one. Only for text of at most 64 KB.""")
            .answers(200, "The whole content.", FILE_VIEW)
            .fails(409, "The sandbox is paused, or the file is being written.")
            .fails(413, "The file is larger than 1 MB. Use the file routes of the data plane.");

    public static final RouteDescription DIFF = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}/diff", kept(Scope.FS_RO))
            .named("viewDiff", "Compare a file between two events")
            .text("The sandbox may have ended; then only its owner may read.")
            .requiredQuery("path", "Relative to the workspace.")
            .query("from_seq", INT.with("minimum", 0).with("default", 0), "The earlier event.")
            .query("to_seq", INT.with("minimum", 0), "The later event. Default: the newest one.")
            .answers(200, "The output of `diff -u`. Empty if the file did not change.", FILE_DIFF);

    public static final RouteDescription TERMINAL = RouteDescription.get(
                    "/api/v1/sandboxes/{sandbox_id}/terminal", kept(Scope.SHELL_RO))
            .named("viewTerminal", "Read the latest output of commands and shells")
            .text("""
                    The sandbox may have ended; then only its owner may read. The text comes from the event log, \
                    without colours and cursor movements.""")
            .query("lines", INT.range(1, 10000).with("default", 200), "Maximum number of entries.")
            .answers(200, "Oldest first.", ViewJson.TERMINAL);

    private static final long ORDINARY_DEPTH = 3;
    private static final long ORDINARY_LINES = 200;
    private static final int MAX_SHOWN_BYTES = 1 << 20;

    private final Operations operations;
    private final EventLog log;
    private final FileHistory history;

    public ViewHandler(Operations operations, EventLog log, FileHistory history) {
        this.operations = operations;
        this.log = log;
        this.history = history;
    }

    public void tree(Exchange exchange) throws IOException {
        String path = exchange.optionalQuery("path").orElse("");
        exchange.usesFilesOf(exchange.sandbox());
        var request = new ListFiles.Request(exchange.sandbox(), path, depth(exchange));
        var tree = operations.files().list(request, exchange::reserve);
        exchange.answer(200, ViewJson.TREE, tree);
    }

    private static long depth(Exchange exchange) {
        Optional<Long> depth = PageQuery.number(exchange, "depth");
        if (exchange.optionalQuery("recursive").isEmpty()) {
            return depth.orElse(ORDINARY_DEPTH);
        }
        if (depth.isPresent()) {
            throw SandboxException.invalid("recursive", "must not be given with depth");
        }
        return QueryFlags.of(exchange, "recursive", false) ? ListFiles.MAX_DEPTH : 1;
    }

    public void file(Exchange exchange) throws IOException {
        String path = WorkspacePath.of(exchange);
        Optional<Long> at = PageQuery.number(exchange, "at_seq");
        exchange.answer(200, FILE_VIEW, at.isPresent() ? earlier(exchange, path, at.get()) : current(exchange, path));
    }

    private View earlier(Exchange exchange, String path, long seq) {
        Version version = require(new SandboxId(exchange.path("sandbox_id")), path, seq);
        var text = new Text(version.content().orElseThrow(), "utf-8");
        String hash = version.sha256().orElse("");
        return new View(path, version.size(), hash, version.modified(), text, Optional.of(version.seq()));
    }

    private static View current(Exchange exchange, String path) {
        var sandbox = alive(exchange);
        exchange.usesFilesOf(sandbox);
        FileContent content = read(sandbox, path);
        byte[] bytes = content.bytes().orElseThrow();
        exchange.reserve(4L * bytes.length); // The bytes, and the text with up to two bytes a character.
        var modified = content.entry().modified();
        return new View(path, content.size(), content.tag(), modified, Text.of(bytes), Optional.empty());
    }

    private static Sandbox alive(Exchange exchange) {
        return exchange.findSandbox()
                .orElseThrow(() ->
                        new SandboxException(new Failure.NoSuchSandbox(exchange.path("sandbox_id"), Optional.empty())));
    }

    private static FileContent read(Sandbox sandbox, String path) {
        Workspace files = sandbox.passiveFiles();
        FileContent content = FileContent.of(files, path, MAX_SHOWN_BYTES);
        if (content.bytes().isEmpty()) {
            throw new SandboxException(
                    new FileFailure.FileTooLargeToShow(sandbox.id(), path, content.size(), MAX_SHOWN_BYTES));
        }
        return content;
    }

    private Version require(SandboxId sandbox, String path, long seq) {
        return find(sandbox, path, seq).orElseThrow(() -> new SandboxException(new Failure.NoSuchFile(path)));
    }

    /// Returns the file after an event. Empty if the file did not exist.
    private Optional<Version> find(SandboxId sandbox, String path, long seq) {
        return switch (history.at(sandbox, path, seq)) {
            case Moment.There(Version version) when version.content().isPresent() -> Optional.of(version);
            case Moment.There _, Moment.Forgotten _ ->
                throw new SandboxException(new FileFailure.VersionNotKept(path, seq));
            case Moment.Nothing _ -> Optional.empty();
        };
    }

    public void diff(Exchange exchange) throws IOException {
        var sandbox = new SandboxId(exchange.path("sandbox_id"));
        String path = exchange.query("path");
        long from = PageQuery.number(exchange, "from_seq").orElse(0L);
        long to = PageQuery.number(exchange, "to_seq").orElseGet(() -> log.head(sandbox));
        Optional<Version> before = find(sandbox, path, from);
        Optional<Version> after = find(sandbox, path, to);
        if (before.isEmpty() && after.isEmpty()) {
            throw new SandboxException(new Failure.NoSuchFile(path));
        }
        boolean isSame = before.flatMap(Version::content).equals(after.flatMap(Version::content));
        String diff =
                isSame ? "" : TextDiff.of(path, before.flatMap(Version::content), after.flatMap(Version::content));
        exchange.answer(200, FILE_DIFF, new Difference(path, from, to, !isSame, diff));
    }

    public void terminal(Exchange exchange) throws IOException {
        long lines = PageQuery.number(exchange, "lines").orElse(ORDINARY_LINES);
        var request = new ReadTerminal.Request(new SandboxId(exchange.path("sandbox_id")), lines);
        var text = operations.terminal().read(request, exchange::reserve);
        exchange.answer(200, ViewJson.TERMINAL, text);
    }
}
