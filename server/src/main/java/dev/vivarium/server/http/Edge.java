package dev.vivarium.server.http;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.Undo;
import dev.vivarium.core.inside.ControlPortHandler;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.settings.HttpConfig;
import java.io.IOException;
import java.net.BindException;
import java.net.URI;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.websocket.server.ServerWebSocketContainer;

/// HTTP server. Thread-safe.
///
/// A few platform threads watch the sockets and parse requests. Each request has a virtual thread, and `/health` has a
/// platform thread ([RequestThreads]).
public final class Edge implements AutoCloseable {
    private static final int WORKERS = 16;
    private static final int ACCEPT_QUEUE = 1024;
    private static final Duration SOCKET_IDLE = Duration.ofMinutes(2);
    private static final int MAX_HEADER_BYTES = 16 * 1024;

    private final Server server;
    private final Undo parts;
    private final ClientConnector connector;
    private final InsideConnector controlPort;
    private final DrainGate gate;
    private final URI uri;

    private Edge(
            Server server,
            Undo parts,
            ClientConnector connector,
            InsideConnector controlPort,
            DrainGate gate,
            URI uri) {
        this.server = server;
        this.parts = parts;
        this.connector = connector;
        this.controlPort = controlPort;
        this.gate = gate;
        this.uri = uri;
    }

    /// Binds the port. Clients that connect wait until [#serve]. Throws if the address is not available.
    public static Edge bind(HttpConfig config, DrainGate gate, Scheduler scheduler) {
        try (var undo = new Undo()) {
            return bind(config, gate, scheduler, undo);
        }
    }

    private static Edge bind(HttpConfig config, DrainGate gate, Scheduler scheduler, Undo undo) {
        var workers = new QueuedThreadPool(WORKERS, 2);
        workers.setName("http");
        workers.setVirtualThreadsExecutor(VirtualThreads.getNamedVirtualThreadsExecutor("request-"));
        var server = new Server(workers, null, new ReportingBufferPool(new ArrayByteBufferPool()));
        var connections = undo.add(new Connections(config.limits(), scheduler));
        var tls = config.tls().map(files -> undo.add(new Tls(files, scheduler)));
        var connector = new ClientConnector(server, Protocols.of(http(), tls.map(Tls::context)), connections);
        connector.setHost(config.host());
        connector.setPort(config.port());
        connector.setAcceptQueueSize(ACCEPT_QUEUE);
        connector.setIdleTimeout(config.idleConnection().toMillis());
        server.addConnector(connector);
        var controlPort = new InsideConnector(server, http());
        server.addConnector(controlPort);
        ServerWebSocketContainer.ensure(server).setIdleTimeout(SOCKET_IDLE);
        server.setErrorHandler(new ProblemResponse.OfJetty());
        open(connector, config);
        var uri = uri(tls.isPresent() ? "https" : "http", config.host(), connector.getLocalPort());
        return new Edge(server, undo.keep(), connector, controlPort, gate, uri);
    }

    private static void open(ClientConnector connector, HttpConfig config) {
        try {
            connector.open();
        } catch (IOException | RuntimeException e) {
            connector.close();
            throw new SandboxException(new Failure.InvalidRequest("port", why(config, e)), e);
        }
    }

    /// Starts to handle requests.
    public void serve(RouterSelector routers, Admission admission, AccessAudit audit, Idempotency idempotency) {
        var requests = VirtualThreads.getNamedVirtualThreadsExecutor("request-");
        server.setHandler(new RequestThreads(requests, new Dispatcher(routers, admission, audit, idempotency, gate)));
        try {
            server.start();
        } catch (Exception e) {
            // Jetty declares `Exception`.
            throw new IllegalStateException("starting the HTTP server", e);
        }
    }

    public URI uri() {
        return uri;
    }

    /// Returns the handler for connections from inside sandboxes.
    public ControlPortHandler controlPortHandler() {
        return controlPort::serve;
    }

    /// Refuses new requests, waits up to `grace` for the current ones, and stops.
    public void stop(Duration grace) {
        gate.shut(grace);
        close();
    }

    /// Stops at once. Idempotent.
    @Override
    public void close() {
        try {
            server.stop();
            // A server that was never started does not close the port by itself.
            connector.close();
        } catch (Exception e) {
            // Jetty declares `Exception`. If the server does not stop, there is no recovery.
            throw new IllegalStateException("stopping the HTTP server", e);
        } finally {
            parts.close();
        }
    }

    private static HttpConfiguration http() {
        var http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendDateHeader(true);
        http.setRequestHeaderSize(MAX_HEADER_BYTES);
        http.setHttpCompliance(HttpCompliance.RFC9110);
        // The router splits the raw path itself and decodes it once. Jetty must not rewrite it before.
        http.setUriCompliance(UriCompliance.UNSAFE);
        // Otherwise, Jetty replaces a header value with a cached one of the same connection that differs only in case.
        http.setHeaderCacheCaseSensitive(true);
        return http;
    }

    private static String why(HttpConfig config, Exception e) {
        String address = config.host() + ":" + config.port();
        Throwable cause = e instanceof IOException && e.getCause() != null ? e.getCause() : e;
        return switch (cause) {
            case BindException _ ->
                "cannot be used: " + address + " is in use, or is not an address of this machine;"
                        + " choose another with --port or --host";
            case UnresolvedAddressException _ -> "cannot be used: there is no address " + config.host();
            default -> "cannot be used: " + address + ": " + cause.getMessage();
        };
    }

    private static URI uri(String scheme, String host, int port) {
        return URI.create(scheme + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port);
    }
}
