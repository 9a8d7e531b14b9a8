package dev.vivarium.sdk;

import dev.vivarium.json.FileJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Listing;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.InputStream;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Files of one sandbox. Paths are relative to the workspace. Thread-safe.
public final class SandboxFiles {
    private static final String MODE = "X-File-Mode";
    private static final int EXECUTABLE = 0100;
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int PRECONDITION_FAILED = 412;
    private static final Pattern SHA_256 = Pattern.compile("sha-256=:([A-Za-z0-9+/]{43}=):");

    private final SandboxConnection connection;

    SandboxFiles(SandboxConnection connection) {
        this.connection = connection;
    }

    /// A file whose bytes are streamed. Confined to one thread.
    public static final class OpenFile implements AutoCloseable {
        private final Response response;

        private OpenFile(Response response) {
            this.response = response;
        }

        /// The bytes. Closing the stream before its end closes the connection.
        public InputStream bytes() {
            return response.body();
        }

        public OptionalLong size() {
            return response.header("Content-Length").map(Long::parseLong).stream()
                    .mapToLong(Long::longValue)
                    .findFirst();
        }

        public boolean isExecutable() {
            return response.header(MODE)
                    .filter(mode -> mode.matches("[0-7]{1,4}"))
                    .map(mode -> (Integer.parseInt(mode, 8) & EXECUTABLE) != 0)
                    .orElse(false);
        }

        @Override
        public void close() {
            response.close();
        }
    }

    /// The mode of a file after a write.
    public enum WriteMode {
        /// The mode of the file that is replaced; a new file is not executable.
        KEEP(Map.of()),
        EXECUTABLE(Map.of(MODE, "755")),
        NOT_EXECUTABLE(Map.of(MODE, "644"));

        private final Map<String, String> headers;

        WriteMode(Map<String, String> headers) {
            this.headers = headers;
        }
    }

    /// The entries of a directory, newest first; an empty path is the workspace.
    public Listing list(String path) {
        return connection.get(path(path), FileJson::read);
    }

    /// All entries below a directory, newest first.
    public Listing listRecursively(String path) {
        return connection.get(path(path) + "?recursive=true", FileJson::read);
    }

    /// Opens a file for reading. The caller closes it.
    public OpenFile open(String path) {
        Response response = read(path).requireSuccess();
        if (isDirectory(response)) {
            response.close();
            throw new SandboxException(new Failure.WrongFileType(path, "is a directory"));
        }
        return new OpenFile(response);
    }

    /// The same; nothing if there is no such file.
    public Optional<OpenFile> find(String path) {
        Response response = read(path);
        if (response.status() == NOT_FOUND || isDirectory(response.requireSuccess())) {
            response.close();
            return Optional.empty();
        }
        return Optional.of(new OpenFile(response));
    }

    private Response read(String path) {
        return connection.send("GET", path(path), Map.of("Accept", "application/octet-stream"), Body::none);
    }

    /// The server answers with a listing, which has no tag, if the path is a directory.
    private static boolean isDirectory(Response response) {
        return response.header("ETag").isEmpty();
    }

    /// The SHA-256 of a file in hexadecimal digits; nothing if the file cannot be read or is too large.
    public Optional<String> sha256(String path) {
        var wanted = Map.of("Want-Repr-Digest", "sha-256=1");
        try (Response response = connection.send("HEAD", path(path), wanted, Body::none)) {
            return response.status() == OK
                    ? response.header("Repr-Digest").flatMap(SandboxFiles::sha256Of)
                    : Optional.empty();
        }
    }

    private static Optional<String> sha256Of(String digests) {
        Matcher matcher = SHA_256.matcher(digests);
        return matcher.find()
                ? Optional.of(HexFormat.of().formatHex(Base64.getDecoder().decode(matcher.group(1))))
                : Optional.empty();
    }

    /// Writes a file atomically and creates its directories. Asks for the body again if it repeats the call.
    public void write(String path, WriteMode mode, Supplier<Body> body) {
        connection.send("PUT", path(path), mode.headers, body).requireSuccess().close();
    }

    /// Writes a file only if its SHA-256 is `expected`, or if the file does not exist and `expected` is empty.
    /// Reports whether it did.
    public boolean writeIf(String path, Optional<String> expected, WriteMode mode, Supplier<Body> body) {
        var headers = new HashMap<>(mode.headers);
        headers.putAll(expected.map(hash -> Map.of("If-Match", tag(hash))).orElse(Map.of("If-None-Match", "*")));
        try (Response response = connection.send("PUT", path(path), headers, body)) {
            return isDone(response);
        }
    }

    public void delete(String path) {
        connection
                .send("DELETE", path(path), Map.of(), Body::none)
                .requireSuccess()
                .close();
    }

    /// Deletes a file or a directory with its content.
    public void deleteRecursively(String path) {
        connection
                .send("DELETE", path(path) + "?recursive=true", Map.of(), Body::none)
                .requireSuccess()
                .close();
    }

    /// Deletes a file only if its SHA-256 is `expected`. Reports whether the file is gone.
    public boolean deleteIf(String path, String expected) {
        var condition = Map.of("If-Match", tag(expected));
        try (Response response = connection.send("DELETE", path(path), condition, Body::none)) {
            return response.status() == NOT_FOUND || isDone(response);
        }
    }

    private static boolean isDone(Response response) {
        if (response.status() == PRECONDITION_FAILED) {
            return false;
        }
        response.requireSuccess();
        return true;
    }

    private static String tag(String hash) {
        return '"' + hash + '"';
    }

    private static String path(String path) {
        return "/files/" + Transport.path(path);
    }
}
