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

/// One sandbox's way out: its list, its listener inside, and the connections that are open. Thread-safe.
///
/// There is a listener only while there is something on the list, so a sandbox without egress costs nothing.
public final class SandboxEgress {
    private static final Logger LOG = LoggerFactory.getLogger(SandboxEgress.class);

    /// Below the ports that kernels give out by themselves, so that the same one is free when the next server asks.
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
    private final RateLimiter pace = new RateLimiter(BURST, PER_SECOND);

    /// Whoever opens or closes the listener does so in turn: it takes a word with the guest.
    private final Semaphore turn = new Semaphore(1, true);

    private volatile Egress allowed;
    private volatile Optional<Standing> standing = Optional.empty();

    /// A listener, and the guest it is a listener of.
    private record Standing(Guest guest, InsideListener listener) {}

    /// `log` is told of every connection, by the worker that served it.
    public SandboxEgress(SandboxId id, EgressProxy egressProxy, Egress allowed, Consumer<EgressRecord> log) {
        this.id = id;
        this.egressProxy = egressProxy;
        this.allowed = allowed;
        this.log = log;
    }

    /// What programs inside may reach.
    public Egress allowed() {
        return allowed;
    }

    /// Opens the way out of a guest that has just been greeted, or thawed, if there is anything to reach. A guest
    /// that cannot do that keeps everything inside.
    public void attach(Guest guest) {
        if (allowed.isEmpty() && standing.isEmpty()) {
            return;
        }
        turn.acquireUninterruptibly();
        try {
            settle(guest);
        } catch (SandboxException e) {
            LOG.warn("sandbox {} has no way out: {}", id, e.getMessage());
        } finally {
            turn.release();
        }
    }

    /// Changes what programs inside may reach, from now on, once `save` has done its part; connections to what is
    /// no longer on the list are cut. `guest` is there if it can listen; otherwise it is told when it can.
    public void allow(Egress list, Optional<Guest> guest, Runnable save) {
        turn.acquireUninterruptibly();
        try {
            save.run();
            allowed = list;
            live.stream()
                    .filter(proxyConnection -> !proxyConnection.isStillAllowed())
                    .forEach(proxyConnection -> proxyConnection.cut(EgressRecord.Verdict.CUT));
            guest.ifPresent(this::settle);
        } finally {
            turn.release();
        }
    }

    /// Has the listener be there, or not, as the list wants it. A guest that is lost meanwhile is replaced by one
    /// that is attached.
    private void settle(Guest guest) {
        boolean listens = standing.filter(present -> present.guest() == guest).isPresent();
        if (allowed.isEmpty()) {
            standing.ifPresent(present -> present.listener().close());
            standing = Optional.empty();
        } else if (!listens) {
            try {
                standing = Optional.of(new Standing(guest, listen(guest)));
            } catch (SandboxException e) {
                if (guest.isOpen()) {
                    throw e;
                }
            }
        }
    }

    /// Always the same port, for the sake of programs that were told of it before the stream to their guest broke.
    private InsideListener listen(Guest guest) {
        int most = egressProxy.config().connections();
        try {
            return guest.listen(FIRST_PORT + Math.floorMod(id.value().hashCode(), PORTS), most, this::serve);
        } catch (SandboxException e) {
            if (!guest.isOpen()) {
                throw e;
            }
            return guest.listen(ANY_PORT, most, this::serve);
        }
    }

    /// By the sandbox's own list, and by the server's, which may be shorter than when the sandbox was given its
    /// own.
    private boolean allows(HostName host, int port) {
        return allowed.allows(host, port) && egressProxy.config().most().allows(host, port);
    }

    private void serve(Channel channel) {
        var proxyConnection = new ProxyConnection(new ProgramConnection(channel, EgressProxy.patience()), this::allows);
        live.add(proxyConnection);
        try {
            Thread.sleep(pace.take());
            egressProxy.carry(proxyConnection);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            live.remove(proxyConnection);
            proxyConnection.egressRecord().ifPresent(log);
        }
    }

    /// The variables by which programs find the way out; none while there is none.
    public Map<String, String> env() {
        return standing.filter(_ -> !allowed.isEmpty())
                .map(present -> "http://127.0.0.1:" + present.listener().port())
                .map(proxy -> Map.of(
                        "http_proxy", proxy,
                        "https_proxy", proxy,
                        "HTTP_PROXY", proxy,
                        "HTTPS_PROXY", proxy,
                        "no_proxy", NO_PROXY,
                        "NO_PROXY", NO_PROXY,
                        // Node looks at the others only if it is told to.
                        "NODE_USE_ENV_PROXY", "1"))
                .orElse(Map.of());
    }

    /// Ends every connection. The list stays.
    public void cut() {
        live.forEach(proxyConnection -> proxyConnection.cut(EgressRecord.Verdict.CUT));
    }
}
