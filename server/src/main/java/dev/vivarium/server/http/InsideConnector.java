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

/// Connector for connections from programs in sandboxes, without a socket. Thread-safe.
///
/// No other client can use it, and each connection identifies its sandbox. Jetty's `MemoryConnector` is similar, but it
/// reads the other side's queue under the wrong lock and can lose a wake-up.
final class InsideConnector extends AbstractConnector {
    /// Longer than the heartbeat interval of a worker and than a long poll.
    private static final Duration IDLE = Duration.ofMinutes(2);

    InsideConnector(Server server, HttpConfiguration http) {
        super(
                server,
                VirtualThreads.getNamedVirtualThreadsExecutor("control-port-"),
                null,
                null,
                0,
                new HttpConnectionFactory(http));
        setIdleTimeout(IDLE.toMillis());
    }

    /// Serves one connection to its end, in the calling thread.
    void serve(InsideConnection insideConnection) {
        if (!isRunning()) {
            return;
        }
        var endPoint = new InsideEndPoint(insideConnection, getScheduler(), getExecutor());
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

    /// Does nothing, because [#serve] provides the connections.
    @Override
    protected void accept(int acceptor) {}

    @Override
    public @Nullable Object getTransport() {
        return null;
    }
}
