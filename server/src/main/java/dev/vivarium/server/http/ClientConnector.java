package dev.vivarium.server.http;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Connector that accepts clients as [ClientEndPoint]s, within the limits of [Connections]. Thread-safe.
final class ClientConnector extends ServerConnector {
    private static final Logger LOG = LoggerFactory.getLogger(ClientConnector.class);

    /// Pause after the system had no descriptor for a connection.
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static final Duration WARN_EVERY = Duration.ofSeconds(10);

    private final Connections connections;
    private final ClientEndPoint.Context context;

    /// Confined to the thread of the selector.
    private long warned = System.nanoTime() - WARN_EVERY.toNanos();

    ClientConnector(Server server, List<ConnectionFactory> protocols, Connections connections) {
        super(server, 0, 1, protocols.toArray(ConnectionFactory[]::new));
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

    @Override
    protected SelectorManager newSelectorManager(Executor executor, Scheduler scheduler, int selectors) {
        return new ServerConnectorManager(executor, scheduler, selectors) {
            @Override
            protected @Nullable SelectableChannel doAccept(SelectableChannel server) throws IOException {
                try {
                    return super.doAccept(server);
                } catch (ClosedChannelException e) {
                    throw e;
                } catch (IOException e) {
                    pause(e);
                    return null;
                }
            }
        };
    }

    /// Closes some connections and accepts none for a moment. Otherwise, the selector would retry at once and
    /// without end. The waiting clients stay in the queue of the kernel.
    private void pause(IOException failure) {
        long now = System.nanoTime();
        if (now - warned > WARN_EVERY.toNanos()) {
            warned = now;
            LOG.warn("cannot accept a connection: {}", failure.getMessage());
        }
        connections.makeRoom();
        setAccepting(false);
        getScheduler().schedule(() -> setAccepting(true), PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    }
}
