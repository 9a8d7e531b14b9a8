package dev.vivarium.server.http;

import dev.vivarium.core.inside.InsideConnection;
import java.time.Duration;
import org.eclipse.jetty.io.AbstractConnection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.AbstractConnector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.VirtualThreads;
import org.jspecify.annotations.Nullable;

/// Brings the connections that programs in sandboxes make to the server into Jetty, without a socket: nobody else can
/// come this way, and each brings along which sandbox it is from. Thread-safe.
///
/// Jetty's own `MemoryConnector` does nearly this, but it looks at the other side's queue under the wrong lock, so that
/// a wake-up can be lost.
final class InsideConnector extends AbstractConnector {
    /// Longer than a worker waits between two beats and than a long poll lasts.
    private static final Duration IDLE = Duration.ofMinutes(2);

    InsideConnector(Server server, HttpConfiguration http) {
        super(
                server,
                VirtualThreads.getNamedVirtualThreadsExecutor("door-"),
                null,
                null,
                0,
                new HttpConnectionFactory(http));
        setIdleTimeout(IDLE.toMillis());
    }

    /// Serves one connection to its end, by the worker that calls this.
    void serve(InsideConnection visit) {
        if (!isRunning()) {
            return;
        }
        var endPoint = new InsideEndPoint(visit, getScheduler(), getExecutor());
        endPoint.setIdleTimeout(getIdleTimeout());
        var connection = (AbstractConnection) getDefaultConnectionFactory().newConnection(this, endPoint);
        endPoint.setConnection(connection);
        endPoint.onOpen();
        onEndPointOpened(endPoint);
        connection.addEventListener(new Connection.Listener() {
            @Override
            public void onClosed(Connection closed) {
                onEndPointClosed(endPoint);
            }
        });
        connection.onOpen();
        endPoint.serve();
    }

    /// Connections are brought by [#serve].
    @Override
    protected void accept(int acceptor) {}

    @Override
    public @Nullable Object getTransport() {
        return null;
    }
}
