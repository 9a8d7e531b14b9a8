package dev.vivarium.core.egress;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/// Connector to outside hosts: resolves the name, checks each address, and connects to a checked address. Thread-safe.
///
/// A few dedicated platform threads resolve names. The system resolver cannot be interrupted, and a blocked call would
/// occupy a carrier of the virtual threads.
final class OutboundConnector implements AutoCloseable {
    private static final Duration RESOLVING = Duration.ofSeconds(5);
    private static final Duration CONNECTING = Duration.ofSeconds(10);
    private static final int WORKERS = 8;
    private static final int QUEUE = 256;
    private static final int ATTEMPTS = 3;

    private final EgressConfig config;
    private final AddressPolicy reach;
    private final AtomicInteger number = new AtomicInteger();
    private final ThreadPoolExecutor resolvers = new ThreadPoolExecutor(
            WORKERS, WORKERS, 10, TimeUnit.SECONDS, new ArrayBlockingQueue<>(QUEUE), this::worker);

    OutboundConnector(EgressConfig config) {
        this.config = config;
        this.reach = new AddressPolicy(config.privateAddresses());
        resolvers.allowCoreThreadTimeOut(true);
    }

    private Thread worker(Runnable task) {
        return Thread.ofPlatform()
                .daemon()
                .name("egress-resolver-" + number.incrementAndGet())
                .unstarted(task);
    }

    /// Connects to a host that the allow-list permits. Throws [Rejection] if it cannot.
    Socket connect(Destination to) {
        List<InetAddress> permitted = permitted(to);
        List<InetAddress> tried = permitted.subList(0, Math.min(ATTEMPTS, permitted.size()));
        // The addresses share the timeout, so that one unresponsive address does not use up the time of the others.
        Duration timeout = CONNECTING.dividedBy(tried.size());
        IOException last = new IOException("it has no address");
        for (InetAddress address : tried) {
            try {
                return connect(new InetSocketAddress(address, to.port()), timeout);
            } catch (IOException e) {
                last = e;
            }
        }
        int status = last instanceof SocketTimeoutException ? 504 : 502;
        throw new Rejection(status, EgressRecord.Verdict.UNREACHABLE, to + " cannot be reached: " + last.getMessage());
    }

    /// Returns the addresses of a host that the policy permits. Throws [Rejection] if the policy permits no
    /// address.
    List<InetAddress> permitted(Destination to) {
        List<InetAddress> found = to.host().address().map(List::of).orElseGet(() -> resolve(to));
        List<InetAddress> permitted = found.stream().filter(reach::permits).toList();
        if (permitted.isEmpty()) {
            throw new Rejection(
                    403,
                    EgressRecord.Verdict.ADDRESS_REFUSED,
                    to.host() + " leads to an address that is not public, which no sandbox may reach;"
                            + " the operator can permit it with the setting egress-private");
        }
        return permitted;
    }

    private static Socket connect(InetSocketAddress to, Duration timeout) throws IOException {
        var socket = new Socket(Proxy.NO_PROXY);
        try {
            socket.setTcpNoDelay(true);
            socket.connect(to, (int) timeout.toMillis());
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /// Starts TLS on the connection and verifies the certificate against the host name.
    Socket secure(Socket plain, Destination to) throws IOException {
        plain.setSoTimeout((int) CONNECTING.toMillis());
        var secured =
                (SSLSocket) config.tls().get().createSocket(plain, to.host().text(), to.port(), true);
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    private List<InetAddress> resolve(Destination to) {
        String name = to.host().text();
        try {
            Future<List<InetAddress>> found =
                    resolvers.submit(() -> config.resolver().resolve(name));
            return found.get(RESOLVING.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            boolean unknown = e.getCause() instanceof UnknownHostException;
            throw unresolved(name + (unknown ? " has no address" : " could not be resolved"), 502);
        } catch (TimeoutException e) {
            throw unresolved("resolving " + name + " took longer than " + RESOLVING.toSeconds() + " s", 504);
        } catch (RejectedExecutionException e) {
            throw unresolved("too many names are being resolved; try again", 503);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unresolved("resolving " + name + " was interrupted", 503);
        }
    }

    private static Rejection unresolved(String sentence, int status) {
        return new Rejection(status, EgressRecord.Verdict.UNRESOLVED, sentence);
    }

    /// Stops the resolver threads. Idempotent.
    @Override
    public void close() {
        resolvers.shutdownNow();
    }
}
