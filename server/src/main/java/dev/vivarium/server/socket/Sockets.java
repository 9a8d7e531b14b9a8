package dev.vivarium.server.socket;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.model.Failure;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.settings.WatchConfig;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Registry of all open sockets. It closes sockets whose clients do not authenticate or do not respond. Thread-safe.
public final class Sockets implements AutoCloseable {
    /// Interval of the periodic work of sockets.
    private static final Duration CHECK = Duration.ofMillis(400);

    /// Limit of open sockets. More are probably a client in a loop.
    private static final int MAX_SOCKETS = 10_000;

    /// Limit of sockets whose clients have not authenticated yet.
    private static final int MAX_UNAUTHENTICATED = 1_000;

    private static final Duration PING = Duration.ofSeconds(20);
    private static final Duration SILENCE = Duration.ofSeconds(50);

    /// Time limit for the client's answer to a close.
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final Admission admission;
    private final Audit audit;
    private final InstantSource clock;
    private final Duration heartbeat;
    private final Duration authTimeout;
    private final Presence presence = new Presence();
    private final Set<GuardedSocket> open = ConcurrentHashMap.newKeySet();
    private final Set<GuardedSocket> unauthenticated = ConcurrentHashMap.newKeySet();
    private final Scheduler.Jobs jobs;
    private volatile boolean closed;

    public Sockets(Admission admission, Audit audit, WatchConfig config, InstantSource clock, Scheduler scheduler) {
        this.admission = admission;
        this.audit = audit;
        this.clock = clock;
        this.heartbeat = config.heartbeat();
        this.authTimeout = config.authTimeout();
        this.jobs =
                scheduler.jobs().every(CHECK, "socket check", this::check).every(PING, "ping of sockets", this::ping);
    }

    /// Returns the clients that are connected to sandboxes, with or without a socket.
    public Presence presence() {
        return presence;
    }

    Admission admission() {
        return admission;
    }

    /// Returns the audit of the sockets of a route.
    SocketAudit audit(String route) {
        return new SocketAudit(audit, clock, route);
    }

    /// Returns the interval of heartbeats on idle sockets.
    Duration heartbeat() {
        return heartbeat;
    }

    /// Registers a socket. Returns the reason if the socket must close.
    Optional<CloseReason> add(GuardedSocket socket) {
        open.add(socket);
        unauthenticated.add(socket);
        if (closed) {
            return Optional.of(CloseReason.stopping());
        }
        return open.size() > MAX_SOCKETS || unauthenticated.size() > MAX_UNAUTHENTICATED
                ? Optional.of(CloseReason.tooMany())
                : Optional.empty();
    }

    void authenticated(GuardedSocket socket) {
        unauthenticated.remove(socket);
        presence.enter(socket);
    }

    void remove(GuardedSocket socket) {
        presence.leave(socket);
        unauthenticated.remove(socket);
        open.remove(socket);
    }

    /// Disconnects a client that does not answer the close.
    void disconnectLater(SocketClient client) {
        jobs.once(CLOSE_TIMEOUT, "disconnect", client::disconnect);
    }

    private void check() {
        long now = System.nanoTime();
        for (GuardedSocket socket : open) {
            if (socket.isAuthenticated()) {
                socket.tick();
            } else if (socket.client().isSilent() && now - socket.client().openedAt() > authTimeout.toNanos()) {
                String silence = "nothing was said within " + authTimeout.toSeconds() + " s";
                socket.close(CloseReason.of(new Failure.NotAuthenticated(silence)));
            }
        }
    }

    private void ping() {
        long now = System.nanoTime();
        for (GuardedSocket socket : open) {
            if (now - socket.client().receivedAt() > SILENCE.toNanos()) {
                socket.close(new CloseReason(1001, "no data arrived for " + SILENCE.toSeconds() + " s"));
            } else if (socket.isAuthenticated()) {
                socket.client().ping();
            }
        }
    }

    /// Closes every socket with a reason. Shells and sandboxes keep running. Idempotent.
    @Override
    public void close() {
        closed = true;
        List<GuardedSocket> last = List.copyOf(open);
        last.forEach(socket -> socket.close(CloseReason.stopping()));
        long deadline = System.nanoTime() + CLOSE_TIMEOUT.toNanos();
        last.forEach(socket -> socket.client().awaitClose(Duration.ofNanos(deadline - System.nanoTime())));
        jobs.close();
    }
}
