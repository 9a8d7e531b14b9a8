package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport;
import dev.vivarium.sdk.http.Transport.Body;
import java.time.Instant;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/// Calls to one thread's sandbox with a token for it. If the server rejects the token, the connection renews it and
/// repeats the call once. Thread-safe.
public final class SandboxConnection {
    private static final int UNAUTHORIZED = 401;
    private static final int NOT_FOUND = 404;

    private final TokenSource source;
    private volatile SandboxToken token;

    private SandboxConnection(TokenSource source) {
        this.source = source;
        this.token = source.current();
    }

    public static SandboxConnection open(TokenSource source) {
        return new SandboxConnection(source);
    }

    /// The token in use, renewed if it is about to expire.
    public SandboxToken token() {
        return token.isDue(Instant.now()) ? renewToken() : token;
    }

    /// The token that the source has now, which another process may have renewed.
    public SandboxToken currentToken() {
        token = source.current();
        return token;
    }

    /// Another token after the server rejected the one in use.
    public SandboxToken renewToken() {
        token = source.renew(token);
        return token;
    }

    public SandboxFiles files() {
        return new SandboxFiles(this);
    }

    public Commands commands() {
        return new Commands(this);
    }

    public Shells shells() {
        return new Shells(this);
    }

    /// Freezes the sandbox with its processes.
    public void pause() {
        send("POST", "/pause", Map.of(), Body::none).requireSuccess().close();
    }

    /// Lets a paused sandbox continue.
    public void resume() {
        send("POST", "/resume", Map.of(), Body::none).requireSuccess().close();
    }

    <T> T get(String path, Function<JsonFields, T> codec) {
        return send("GET", path, Map.of(), Body::none).read(codec);
    }

    /// Sends a request to a path below the sandbox. Asks for the body again if it repeats the call.
    Response send(String method, String path, Map<String, String> headers, Supplier<Body> body) {
        Response first = attempt(method, path, headers, body);
        if (first.status() != UNAUTHORIZED && !isGone(first)) {
            return first;
        }
        first.close();
        renewToken();
        Response second = attempt(method, path, headers, body);
        if (second.status() == UNAUTHORIZED) {
            second.close();
            throw new SandboxException(new Failure.NotAuthenticated("the server refused a new token"));
        }
        return second;
    }

    /// The thread may have a new sandbox, for which the token is not valid.
    private static boolean isGone(Response response) {
        return response.status() == NOT_FOUND
                && response.problem()
                        .filter(Failure.NoSuchSandbox.class::isInstance)
                        .isPresent();
    }

    private Response attempt(String method, String path, Map<String, String> headers, Supplier<Body> body) {
        return new Transport(token.http(), token.token()).send(method, path, headers, body.get());
    }
}
