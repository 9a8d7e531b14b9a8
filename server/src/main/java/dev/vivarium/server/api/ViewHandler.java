package dev.vivarium.server.api;

import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.watch.FileHistory;
import dev.vivarium.core.watch.FileHistory.Moment;
import dev.vivarium.core.watch.TextDiff;
import dev.vivarium.core.watch.Version;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.ListFiles;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.operation.ReadTerminal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// What people look at while an agent works: `/api/v1/sandboxes/{sandbox_id}/files`, `…/files/{path…}`, `…/diff`
/// and `…/terminal`. Looking neither wakes a sandbox nor is a use of it. Thread-safe.
public final class ViewHandler {
    private static final long ORDINARY_DEPTH = 3;
    private static final long ORDINARY_LINES = 200;
    private static final int LARGEST = 1 << 20;

    private final Operations operations;
    private final EventLog log;
    private final FileHistory history;

    public ViewHandler(Operations operations, EventLog log, FileHistory history) {
        this.operations = operations;
        this.log = log;
        this.history = history;
    }

    public void tree(Exchange exchange) throws IOException {
        exchange.allowQuery("path", "depth", "recursive");
        String path = exchange.optionalQuery("path").orElse("");
        exchange.usesFilesOf(exchange.sandbox());
        var request = new ListFiles.Request(exchange.sandbox(), path, depth(exchange));
        var tree = operations.files().list(request, exchange::reserve);
        exchange.answer(200, out -> ViewJson.write(out, tree));
    }

    private static long depth(Exchange exchange) {
        Optional<Long> depth = PageQuery.number(exchange, "depth");
        if (exchange.optionalQuery("recursive").isEmpty()) {
            return depth.orElse(ORDINARY_DEPTH);
        }
        if (depth.isPresent()) {
            throw new SandboxException(new Failure.InvalidRequest("recursive", "must not be given with depth"));
        }
        return QueryFlags.of(exchange, "recursive", false) ? ListFiles.MAX_DEPTH : 1;
    }

    /// As it is, or as it was after an event.
    public void file(Exchange exchange) throws IOException {
        exchange.allowQuery("at_seq");
        String path = WorkspacePath.of(exchange);
        Optional<Long> at = PageQuery.number(exchange, "at_seq");
        if (at.isPresent()) {
            Version version = require(new SandboxId(exchange.path("sandbox_id")), path, at.get());
            exchange.answer(200, out -> {
                write(out, path, version.size(), version.sha256().orElse(""), version.modified());
                out.writeStringProperty("content", version.content().orElseThrow());
                out.writeStringProperty("encoding", "utf-8");
                out.writeNumberProperty("seq", version.seq());
            });
        } else {
            var sandbox = alive(exchange);
            exchange.usesFilesOf(sandbox);
            FileContent content = read(sandbox, path);
            byte[] bytes = content.bytes().orElseThrow();
            exchange.reserve(4L * bytes.length); // As bytes, and as text of up to twice as much.
            exchange.answer(200, out -> {
                write(out, path, content.size(), content.tag(), content.entry().modified());
                writeContent(out, bytes);
            });
        }
    }

    private static Sandbox alive(Exchange exchange) {
        return exchange.findSandbox()
                .orElseThrow(() ->
                        new SandboxException(new Failure.NoSuchSandbox(exchange.path("sandbox_id"), Optional.empty())));
    }

    private static FileContent read(Sandbox sandbox, String path) {
        Workspace files = sandbox.look();
        FileContent content = FileContent.of(files, path, LARGEST);
        if (content.bytes().isEmpty()) {
            throw new SandboxException(new FileFailure.FileTooLargeToShow(sandbox.id(), path, content.size(), LARGEST));
        }
        return content;
    }

    private Version require(SandboxId sandbox, String path, long seq) {
        return find(sandbox, path, seq).orElseThrow(() -> new SandboxException(new Failure.NoSuchFile(path)));
    }

    /// The text at a moment; nothing if nothing was there.
    private Optional<Version> find(SandboxId sandbox, String path, long seq) {
        return switch (history.at(sandbox, path, seq)) {
            case Moment.There(Version version) when version.content().isPresent() -> Optional.of(version);
            case Moment.There _, Moment.Forgotten _ ->
                throw new SandboxException(new FileFailure.VersionNotKept(path, seq));
            case Moment.Nothing _ -> Optional.empty();
        };
    }

    /// What became of a file from one event to another.
    public void diff(Exchange exchange) throws IOException {
        exchange.allowQuery("path", "from_seq", "to_seq");
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
        exchange.answer(200, out -> {
            out.writeStringProperty("path", path);
            out.writeNumberProperty("from_seq", from);
            out.writeNumberProperty("to_seq", to);
            out.writeBooleanProperty("changed", !isSame);
            out.writeStringProperty(
                    "diff",
                    isSame ? "" : TextDiff.of(path, before.flatMap(Version::content), after.flatMap(Version::content)));
        });
    }

    public void terminal(Exchange exchange) throws IOException {
        exchange.allowQuery("lines");
        long lines = PageQuery.number(exchange, "lines").orElse(ORDINARY_LINES);
        var request = new ReadTerminal.Request(new SandboxId(exchange.path("sandbox_id")), lines);
        var text = operations.terminal().read(request, exchange::reserve);
        exchange.answer(200, out -> ViewJson.write(out, text));
    }

    private static void write(JsonGenerator out, String path, long size, String sha256, Instant modified) {
        out.writeStringProperty("path", path);
        out.writeNumberProperty("size", size);
        out.writeNumberProperty("size_bytes", size);
        out.writeStringProperty("hash", sha256);
        out.writeStringProperty("sha256", sha256);
        Json.time(out, "modified_at", modified);
    }

    private static void writeContent(JsonGenerator out, byte[] bytes) {
        try {
            var text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            out.writeStringProperty("content", text.toString());
            out.writeStringProperty("encoding", "utf-8");
        } catch (CharacterCodingException e) {
            out.writeStringProperty("content", Base64.getEncoder().encodeToString(bytes));
            out.writeStringProperty("encoding", "base64");
        }
    }
}
