package dev.vivarium.core.egress;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.InsideListener;
import dev.vivarium.model.Egress;
import dev.vivarium.model.HostName;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Egress of one sandbox: its allow-list, its listener inside the guest, and its open connections. Thread-safe.
///
/// The listener exists only while the allow-list is not empty, so a sandbox without egress has no overhead.
public final class SandboxEgress {
    private static final Logger LOG = LoggerFactory.getLogger(SandboxEgress.class);

    /// Below the ephemeral ports of the kernel, so that the same port is free when the next server opens the
    /// listener.
    private static final int FIRST_PORT = 20_000;

    private static final int PORTS = 10_000;
    private static final int ANY_PORT = 0;
    private static final int BURST = 1_000;
    private static final int PER_SECOND = 100;
    private static final String NO_PROXY = "localhost,127.0.0.1,::1";

    private final SandboxId id;
    private final EgressProxy egressProxy;
    private final Consumer<EgressRecord> log;
    private final Set<ProxyConnection> live = ConcurrentHashMap.newKeySet();
    private final RateLimiter rateLimiter = new RateLimiter(BURST, PER_SECOND);

    /// Serializes opening and closing the listener, because both block on the guest.
    private final Semaphore mutex = new Semaphore(1, true);

    private volatile Egress allowed;
    private volatile Optional<OpenListener> openListener = Optional.empty();

    /// A listener and its guest.
    private record OpenListener(Guest guest, InsideListener listener) {}

    /// The worker thread of each connection passes its record to `log`.
    public SandboxEgress(SandboxId id, EgressProxy egressProxy, Egress allowed, Consumer<EgressRecord> log) {
        this.id = id;
        this.egressProxy = egressProxy;
        this.allowed = allowed;
        this.log = log;
    }

    public Egress allowed() {
        return allowed;
    }

    /// Opens the listener of a guest that has just connected or resumed, unless the allow-list is empty. If the
    /// guest cannot listen, the sandbox has no egress.
    public void attach(Guest guest) {
        if (allowed.isEmpty() && openListener.isEmpty()) {
            return;
        }
        mutex.acquireUninterruptibly();
        try {
            updateListener(guest);
        } catch (SandboxException e) {
            LOG.warn("sandbox {} has no egress: {}", id, e.getMessage());
        } finally {
            mutex.release();
        }
    }

    /// Runs `save`, then replaces the allow-list and cuts connections that it no longer permits. `guest` is empty
    /// if the guest cannot listen now. In that case [#attach] opens the listener later.
    public void allow(Egress list, Optional<Guest> guest, Runnable save) {
        mutex.acquireUninterruptibly();
        try {
            save.run();
            allowed = list;
            live.stream()
                    .filter(proxyConnection -> !proxyConnection.isStillAllowed())
                    .forEach(proxyConnection -> proxyConnection.cut(EgressRecord.Verdict.CUT));
            guest.ifPresent(this::updateListener);
        } finally {
            mutex.release();
        }
    }

    /// Opens or closes the listener according to the allow-list. If the connection to the guest is lost, returns
    /// without a listener; [#attach] opens one when the guest reconnects.
    private void updateListener(Guest guest) {
        boolean listens =
                openListener.filter(present -> present.guest() == guest).isPresent();
        if (allowed.isEmpty()) {
            openListener.ifPresent(present -> present.listener().close());
            openListener = Optional.empty();
        } else if (!listens) {
            try {
                openListener = Optional.of(new OpenListener(guest, listen(guest)));
            } catch (SandboxException e) {
                if (guest.isOpen()) {
                    throw e;
                }
            }
        }
    }

    /// Uses the same port for every connection to the guest, because running programs keep the proxy address in
    /// their environment.
    private InsideListener listen(Guest guest) {
        int maxConnections = egressProxy.config().connections();
        try {
            return guest.listen(FIRST_PORT + Math.floorMod(id.value().hashCode(), PORTS), maxConnections, this::serve);
        } catch (SandboxException e) {
            if (!guest.isOpen()) {
                throw e;
            }
            return guest.listen(ANY_PORT, maxConnections, this::serve);
        }
    }

    /// Checks the allow-list of the sandbox and the limit of the server. The operator may have made the limit
    /// stricter after the allow-list was set.
    private boolean allows(HostName host, int port) {
        return allowed.allows(host, port) && egressProxy.config().maximum().allows(host, port);
    }

    private void serve(Channel channel) {
        var proxyConnection = new ProxyConnection(new ProgramConnection(channel, EgressProxy.timeout()), this::allows);
        live.add(proxyConnection);
        try {
            Thread.sleep(rateLimiter.take());
            egressProxy.serve(proxyConnection);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            live.remove(proxyConnection);
            proxyConnection.egressRecord().ifPresent(log);
        }
    }

    /// Returns the proxy variables for programs in the sandbox. Empty while there is no listener.
    public Map<String, String> env() {
        return openListener
                .filter(_ -> !allowed.isEmpty())
                .map(present -> "http://127.0.0.1:" + present.listener().port())
                .map(proxy -> Map.of(
                        "http_proxy", proxy,
                        "https_proxy", proxy,
                        "HTTP_PROXY", proxy,
                        "HTTPS_PROXY", proxy,
                        "no_proxy", NO_PROXY,
                        "NO_PROXY", NO_PROXY,
                        // Node ignores the other variables unless this one is set.
                        "NODE_USE_ENV_PROXY", "1"))
                .orElse(Map.of());
    }

    /// Cuts every connection. The allow-list stays.
    public void cut() {
        live.forEach(proxyConnection -> proxyConnection.cut(EgressRecord.Verdict.CUT));
    }
}
