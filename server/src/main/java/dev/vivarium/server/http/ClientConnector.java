package dev.vivarium.server.http;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.VirtualThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Connector that accepts clients as [ClientEndPoint]s, within the limits of [Connections]. Thread-safe.
final class ClientConnector extends ServerConnector {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnector.class);

    /// Pause of the acceptor after the system had no descriptor.
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static final Duration WARN_EVERY = Duration.ofSeconds(10);

    private final Connections connections;
    private final ClientEndPoint.Context context;

    /// Confined to the thread that accepts.
    private long warned = System.nanoTime() - WARN_EVERY.toNanos();

    /// Uses one accepting thread. Without a free descriptor, a selector would retry at once and without end.
    ClientConnector(Server server, HttpConfiguration http, Connections connections) {
        super(server, 1, 1, new HttpConnectionFactory(http));
        this.connections = connections;
        Executor executor = VirtualThreads.getNamedVirtualThreadsExecutor("client-");
        this.context = new ClientEndPoint.Context(connections, executor);
    }

    @Override
    protected SocketChannelEndPoint newEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key)
            throws IOException {
        var address = ClientEndPoint.address(channel);
        if (!connections.admits(address)) {
            throw new IOException("too many connections from " + address.orElse(null));
        }
        var client = new ClientEndPoint(channel, selector, key, getScheduler(), context);
        client.setIdleTimeout(getIdleTimeout());
        return client;
    }

    /// Closes some connections and continues. Reports whether the acceptor continues.
    @Override
    protected boolean handleAcceptFailure(Throwable failure) {
        if (!isRunning() || !(failure instanceof IOException) || failure instanceof ClosedChannelException) {
            return super.handleAcceptFailure(failure);
        }
        long now = System.nanoTime();
        if (now - warned > WARN_EVERY.toNanos()) {
            warned = now;
            LOG.warn("cannot accept a connection: {}", failure.getMessage());
        }
        connections.makeRoom();
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return true;
    }
}
