package dev.vivarium.cli.remote;

import dev.vivarium.cli.remote.Passes.IfAbsent;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport;
import dev.vivarium.sdk.http.Transport.Body;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;

/// One thread's sandbox on the data plane. A pass that is refused is renewed once. Thread-safe.
public final class Box {
    /// The header that has the permissions of a file, both ways.
    public static final String MODE = "X-File-Mode";

    private static final int UNAUTHORIZED = 401;
    private static final int EXECUTABLE = 0100;

    private final Passes passes;
    private final String thread;
    private final IfAbsent ifAbsent;
    private volatile Pass pass;

    private Box(Passes passes, String thread, IfAbsent ifAbsent) {
        this.passes = passes;
        this.thread = thread;
        this.ifAbsent = ifAbsent;
        this.pass = passes.of(thread, ifAbsent);
    }

    public static Box open(Passes passes, String thread, IfAbsent ifAbsent) {
        return new Box(passes, thread, ifAbsent);
    }

    /// The pass, renewed if it is due.
    public Pass pass() {
        pass = passes.of(thread, ifAbsent);
        return pass;
    }

    /// The pass as it is, renewed only if it is due; asks nobody otherwise.
    public Pass current() {
        return passes.isDue(pass) ? renewed() : pass;
    }

    /// Another pass after one was refused.
    public Pass renewed() {
        pass = passes.renew(thread, pass, ifAbsent);
        return pass;
    }

    public String thread() {
        return thread;
    }

    /// Calls `path` below the sandbox. `body` is asked for anew if the call has to be made twice.
    public Response send(String method, String path, Map<String, String> headers, Supplier<Body> body) {
        Response reply = attempt(method, path, headers, body);
        if (reply.status() != UNAUTHORIZED && !isGone(reply)) {
            return reply;
        }
        reply.close();
        renewed();
        Response second = attempt(method, path, headers, body);
        if (second.status() == UNAUTHORIZED) {
            second.close();
            throw new SandboxException(new Failure.NotAuthenticated("the server refused a pass that it just gave"));
        }
        return second;
    }

    /// A sandbox that is gone may have a successor, and a kept pass does not know.
    private static boolean isGone(Response reply) {
        return reply.status() == 404
                && reply.problem()
                        .filter(Failure.NoSuchSandbox.class::isInstance)
                        .isPresent();
    }

    private Response attempt(String method, String path, Map<String, String> headers, Supplier<Body> body) {
        return new Transport(pass.http(), pass.token()).send(method, path, headers, body.get());
    }

    public <T> T get(String path, Function<JsonFields, T> codec) {
        return send("GET", path, Map.of(), Body::none).read(codec);
    }

    public <T> T post(String path, Consumer<JsonGenerator> fields, Function<JsonFields, T> codec) {
        return send("POST", path, Map.of(), () -> Body.json(fields)).read(codec);
    }

    /// The path of a file on the data plane.
    public static String file(String path) {
        return "/files/" + Transport.path(path);
    }

    /// Reports whether the file that this reply brings is a program.
    public static boolean isExecutable(Response file) {
        return file.header(MODE)
                .filter(mode -> mode.matches("[0-7]{1,4}"))
                .map(mode -> (Integer.parseInt(mode, 8) & EXECUTABLE) != 0)
                .orElse(false);
    }

    /// The header that lets a write happen only on what one has seen.
    public static Map<String, String> onlyIf(Optional<String> etag) {
        return etag.map(tag -> Map.of("If-Match", tag)).orElse(Map.of("If-None-Match", "*"));
    }
}
