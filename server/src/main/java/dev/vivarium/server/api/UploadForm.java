package dev.vivarium.server.api;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.files.Upload;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Upload form with `session_id`, `file` and `filename` in any order. Confined to the worker that serves the request.
///
/// The form streams the file to the guest, for which it needs the session and the name. A file of at most [#HELD] bytes
/// stays in memory, so it may precede both fields. A larger file that precedes the session goes to the server's disk. A
/// larger file that precedes `filename` gets the name in its own part.
final class UploadForm implements Multipart.Parts, AutoCloseable {
    private static final int HELD = 256 * 1024;
    private static final int MAX_FIELD = 8 * 1024;

    /// Upper bound of the fields that may follow the file.
    private static final long FIELDS = 64 * 1024;

    private final Function<String, Sandbox> sandboxes;
    private final Upload.Limits limits;
    private final Path spoolDirectory;
    private final ByteArrayOutputStream piece = new ByteArrayOutputStream();
    private String part = "";
    private @Nullable Sandbox sandbox;
    private @Nullable String name;
    private @Nullable String ownName;
    private @Nullable Upload upload;
    private @Nullable String uploadName;
    private @Nullable SpoolFile spool;
    private byte[] held = new byte[0];
    private boolean hasFile;

    UploadForm(Function<String, Sandbox> sandboxes, Upload.Limits limits, Path spoolDirectory) {
        this.sandboxes = sandboxes;
        this.limits = limits;
        this.spoolDirectory = spoolDirectory;
    }

    /// Result of a form.
    record Uploaded(Sandbox sandbox, FileEntry entry) {}

    Optional<Sandbox> sandbox() {
        return Optional.ofNullable(sandbox);
    }

    @Override
    public void begin(String field, Optional<String> filename, OptionalLong size) {
        part = field;
        piece.reset();
        switch (field) {
            case "session_id" -> require(sandbox == null, field, "must be given once");
            case "filename" -> require(name == null, field, "must be given once");
            case "file" -> {
                require(!hasFile, field, "must be given once");
                hasFile = true;
                refuseIfTooLarge(size.orElse(0));
                ownName = filename.map(UploadForm::lastPart).orElse(null);
            }
            default ->
                throw SandboxException.invalid(
                        field.length() > 60 ? field.substring(0, 60) : field, "is not a field of this form");
        }
    }

    /// Refuses a file by its declared size. The fields after it count too, so they get an allowance.
    private void refuseIfTooLarge(long size) {
        if (size > limits.maxFileBytes() + FIELDS) {
            throw new SandboxException(new Failure.FileTooLarge(limits.maxFileBytes(), size));
        }
    }

    @Override
    public void content(byte[] bytes, int offset, int length) {
        if (!part.equals("file")) {
            require(piece.size() + length <= MAX_FIELD, part, "must be at most " + MAX_FIELD + " bytes");
            piece.write(bytes, offset, length);
        } else if (upload != null) {
            upload.write(bytes, offset, length);
        } else if (spool != null) {
            spool.write(bytes, offset, length);
        } else {
            piece.write(bytes, offset, length);
            if (piece.size() > HELD) {
                transferHeldBytes();
            }
        }
    }

    /// Moves the received bytes from memory to the guest, or to disk if the session is unknown.
    private void transferHeldBytes() {
        byte[] begun = piece.toByteArray();
        piece.reset();
        if (sandbox == null) {
            spool = SpoolFile.in(spoolDirectory, limits.maxFileBytes());
            spool.write(begun, 0, begun.length);
        } else {
            upload = open(sandbox);
            upload.write(begun, 0, begun.length);
        }
    }

    @Override
    public void end() {
        switch (part) {
            case "session_id" -> sandbox = sandboxes.apply(text());
            case "filename" -> name = text();
            default -> held = piece.toByteArray();
        }
    }

    /// Moves the file to its path. Call it after the last part.
    Uploaded commit() throws IOException {
        require(hasFile, "file", "is required");
        if (sandbox == null) {
            throw SandboxException.invalid("session_id", "is required");
        }
        String wanted = wantedName();
        if (upload == null) {
            upload = open(sandbox);
            if (spool != null) {
                spool.copyTo(upload);
            } else {
                upload.write(held, 0, held.length);
            }
        } else if (!wanted.equals(uploadName)) {
            throw SandboxException.invalid("filename", "must come before a file of more than " + HELD + " bytes");
        }
        var entry = upload.commit();
        return new Uploaded(sandbox, new FileEntry(wanted, entry.type(), entry.mode(), entry.size(), entry.modified()));
    }

    private Upload open(Sandbox target) {
        String wanted = wantedName();
        uploadName = wanted;
        return target.files().write(wanted, limits);
    }

    private String wantedName() {
        String wanted = name != null ? name : ownName;
        if (wanted == null || wanted.isEmpty()) {
            throw SandboxException.invalid("filename", "is required when the file has no name of its own");
        }
        return wanted;
    }

    private String text() {
        byte[] bytes = piece.toByteArray();
        String text = new String(bytes, StandardCharsets.UTF_8);
        require(text.indexOf('\uFFFD') < 0, part, "must be UTF-8");
        return text;
    }

    /// Returns the file name without directories, because some clients send the whole path on their own disk.
    private static String lastPart(String filename) {
        return filename.substring(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1);
    }

    /// Discards an upload that was not committed.
    @Override
    public void close() {
        try (var first = upload;
                var second = spool) {
            // Closes both, even if closing one of them fails.
        } catch (IOException e) {
            throw new UncheckedIOException("removing a spooled upload", e);
        }
    }
}
