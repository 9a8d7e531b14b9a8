package dev.vivarium.cli;

import dev.vivarium.cli.remote.Box;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport.Body;
import java.io.InputStream;
import java.util.Map;
import java.util.function.Supplier;

/// The files of one sandbox, as `cat` and `cp` need them. Thread-safe.
record RemoteFiles(Box box) {
    /// The bytes as they come; closing the stream before its end hangs up.
    InputStream open(String path) {
        return reply(path).body();
    }

    /// A directory is answered with what is in it, and that is not the file that somebody asked for.
    Response reply(String path) {
        Response reply = box.send("GET", Box.file(path), Map.of("Accept", "application/octet-stream"), Body::none)
                .requireSuccess();
        if (reply.header("ETag").isEmpty()) {
            reply.close();
            throw isDirectory(path);
        }
        return reply;
    }

    static SandboxException isDirectory(String path) {
        return new SandboxException(new Failure.WrongFileType(path, "is a directory"));
    }

    /// What a file becomes when it is put somewhere.
    enum Kind {
        /// What was there before; a new one is no program.
        AS_IT_WAS,
        PROGRAM
    }

    /// Puts the bytes in the place of the file. `body` is asked for again if the call has to be made twice.
    void put(String path, Kind kind, Supplier<Body> body) {
        Map<String, String> headers = kind == Kind.PROGRAM ? Map.of(Box.MODE, "755") : Map.of();
        box.send("PUT", Box.file(path), headers, body).requireSuccess().close();
    }
}
