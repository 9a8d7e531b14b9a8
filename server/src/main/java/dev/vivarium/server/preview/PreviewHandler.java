package dev.vivarium.server.preview;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.server.http.Route.Access.OWN;

import dev.vivarium.core.preview.Connection;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Status;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.settings.PreviewConfig;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;

/// Handler for a port of a sandbox, by path `/sandboxes/{sandbox_id}/ports/{port}/…` or by host
/// `{port}-{sandbox_id}.{domain}`. Thread-safe.
public final class PreviewHandler {
    public static final RouteDescription ADD_SLASH = RouteDescription.any("/sandboxes/{sandbox_id}/ports/{port}", OWN)
            .named("preview%sRoot", "Redirect to the same port with a trailing slash")
            .answers(308, "`Location` has the address with a trailing slash.")
            .fails(400, "The port is invalid, or the length of the request is ambiguous.");

    public static final RouteDescription PREVIEW = RouteDescription.any(
                    "/sandboxes/{sandbox_id}/ports/{port}/{rest…}", OWN)
            .named("preview%s", "Send a request to a program that listens in the sandbox")
            .text("""
                    Any method, and upgrades such as WebSocket. The same program is at the host \
                    `{port}-{sandbox_id}.{preview-domain}`. See the guide on previews.""")
            .query("viv_token", STRING, """
                    A capability token. The server exchanges it for a cookie and does not forward it.""")
            .answers(101, """
                    The program switched the protocol. The server forwards bytes in both directions.""")
            .answers(303, """
                    The server set a cookie for the token. `Location` has the address without the token.""")
            .fails(400, "The port is invalid, or the length of the request is ambiguous.")
            .fails(403, "The scope `process` is missing, or a page of another origin used the cookie.")
            .fails(409, "The sandbox is paused.")
            .fails(502, "No program listens on the port, or its response is not HTTP.")
            .fails(503, "The server is shutting down. See `Retry-After`.")
            .fails(504, "The program did not respond in time.")
            .otherwise("The response of the program.")
            .fails(401, 404, 410);

    private static final Pattern PORT = Pattern.compile("[1-9][0-9]{0,4}");
    private static final int MAX_PORT = 65_535;

    private final Admission admission;
    private final PreviewAccess previewAccess;
    private final PreviewSignIn welcome;
    private final PreviewAudit audit;
    private final PreviewConfig config;

    public PreviewHandler(Admission admission, PreviewAudit audit, PreviewConfig config, InstantSource clock) {
        this.admission = admission;
        this.previewAccess = new PreviewAccess(admission);
        this.welcome = new PreviewSignIn(clock);
        this.audit = audit;
        this.config = config;
    }

    /// Serves a port below a path of the API.
    public void byPath(Exchange exchange) throws IOException {
        String sandbox = exchange.path("sandbox_id");
        int port = port(exchange.path("port"));
        String prefix = "/sandboxes/" + sandbox + "/ports/" + port;
        serve(exchange, new PreviewAddress(sandbox, port, origin(exchange), prefix), "/" + exchange.rawPath("rest"));
    }

    /// Serves a port at its own host.
    public void byHost(Exchange exchange) throws IOException {
        int port = port(exchange.path("port"));
        serve(
                exchange,
                new PreviewAddress(exchange.path("sandbox_id"), port, origin(exchange), ""),
                Optional.ofNullable(exchange.request().getHttpURI().getPath()).orElse("/"));
    }

    /// Redirects to the path with a final slash. Without the slash, relative links resolve to the wrong path.
    public void addSlash(Exchange exchange) throws IOException {
        String path = "/sandboxes/" + exchange.rawPath("sandbox_id") + "/ports/" + port(exchange.path("port")) + "/";
        String query = exchange.rawQuery().map(text -> "?" + text).orElse("");
        exchange.answerHeader(HttpHeader.LOCATION.asString(), origin(exchange) + path + query);
        exchange.answer(HttpStatus.PERMANENT_REDIRECT_308, "text/plain", new byte[0]);
    }

    private void serve(Exchange exchange, PreviewAddress address, String path) throws IOException {
        Request request = exchange.request();
        if (HttpMethod.TRACE.is(request.getMethod()) || HttpMethod.CONNECT.is(request.getMethod())) {
            throw new SandboxException(new RequestFailure.MethodNotAllowed("a preview does not answer to this method"));
        }
        PreviewQuery query = PreviewQuery.of(exchange.rawQuery());
        PreviewAccess.shown(request, query).ifPresent(exchange::setCredential);
        var entry = previewAccess.enter(request, address, query);
        exchange.onAuthenticated().run();
        audit.record(entry.caller(), address);
        String target = path + query.suffix();
        boolean upgrades = !Headers.upgrade(request).isEmpty();
        if (query.token().isPresent() && PreviewAccess.isSafe(request) && !upgrades) {
            welcome.answer(exchange, address, entry, address.prefix() + target);
            return;
        }
        relay(exchange, address, entry, target);
    }

    private void relay(Exchange exchange, PreviewAddress address, PreviewAccess.Entry entry, String target)
            throws IOException {
        Request request = exchange.request();
        var inward = PreviewRelay.inward(request, target, Headers.inward(request, address, entry.spent()));
        Connection connection = dial(entry.sandbox(), address.port());
        exchange.endsAtHalfClose();
        exchange.onDisconnect(connection::close);
        var cut = new AtomicReference<Runnable>(connection::close);
        var access = admission.hold(
                entry.caller(),
                entry.shown(),
                () -> previewAccess.reauthorize(entry),
                _ -> cut.get().run());
        Optional<Tunnel> tunnel = Optional.empty();
        try {
            tunnel = new PreviewRelay(request, exchange.response(), address, config.idle()).run(connection, inward);
            tunnel.ifPresent(open -> {
                open.whenClosed(access::close);
                cut.set(open::close);
            });
        } finally {
            if (tunnel.isEmpty()) {
                access.close();
            }
        }
    }

    private Connection dial(Sandbox sandbox, int port) {
        try {
            return sandbox.dial(port);
        } catch (SandboxException e) {
            boolean isPaused =
                    e.failure() instanceof Failure.SandboxNotRunning(var _, Status status) && status == Status.PAUSED;
            if (!isPaused || !config.wakes()) {
                throw e;
            }
            sandbox.resume(PauseReason.TRAFFIC);
            return sandbox.dial(port);
        }
    }

    private String origin(Exchange exchange) {
        String host = exchange.header("Host").orElse("localhost");
        return (config.secure() ? "https://" : "http://") + host;
    }

    private static int port(String text) {
        int port = PORT.matcher(text).matches() ? Integer.parseInt(text) : 0;
        require(port >= 1 && port <= MAX_PORT, "port", "must be between 1 and " + MAX_PORT);
        return port;
    }
}
