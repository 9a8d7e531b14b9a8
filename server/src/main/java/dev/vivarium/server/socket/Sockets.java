package dev.vivarium.server.socket;

import dev.vivarium.core.Scheduler;
import dev.vivarium.model.Failure;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Presence;
import dev.vivarium.server.settings.WatchConfig;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Open WebSockets. Closes those whose client does not authenticate or does not reply. Thread-safe.
public final class Sockets implements AutoCloseable {
    /// Interval of the check of every socket.
    private static final Duration CHECK = Duration.ofMillis(400);

    /// Maximum number of sockets. More are probably the error of one client.
    private static final int MOST = 10_000;

    /// Maximum number of unauthenticated sockets.
    private static final int MOST_STRANGERS = 1_000;

    private static final Duration PING = Duration.ofSeconds(20);
    private static final Duration SILENCE = Duration.ofSeconds(50);

    /// Time limit for the reply to a close.
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final Admission admission;
    private final Duration heartbeat;
    private final Duration introduction;
    private final Presence presence = new Presence();
    private final Set<GuardedSocket> open = ConcurrentHashMap.newKeySet();
    private final Set<GuardedSocket> strangers = ConcurrentHashMap.newKeySet();
    private final Scheduler.Jobs jobs;
    private volatile boolean closed;

    public Sockets(Admission admission, WatchConfig config, Scheduler scheduler) {
        this.admission = admission;
        this.heartbeat = config.heartbeat();
        this.introduction = config.introduction();
        this.jobs = scheduler
                .jobs()
                .every(CHECK, "socket check", this::check)
                .every(PING, "ping of sockets", this::ping);
    }

    /// Returns the connected users of sandboxes, including streams without a socket.
    public Presence presence() {
        return presence;
    }

    Admission admission() {
        return admission;
    }

    /// Returns the interval of heartbeats on a socket.
    Duration heartbeat() {
        return heartbeat;
    }

    /// Adds a socket, or returns the reason to close it.
    Optional<CloseReason> add(GuardedSocket socket) {
        open.add(socket);
        strangers.add(socket);
        if (closed) {
            return Optional.of(CloseReason.stopping());
        }
        return open.size() > MOST || strangers.size() > MOST_STRANGERS
                ? Optional.of(CloseReason.tooMany())
                : Optional.empty();
    }

    /// Records that the client has authenticated.
    void known(GuardedSocket socket) {
        strangers.remove(socket);
        presence.enter(socket);
    }

    void remove(GuardedSocket socket) {
        presence.leave(socket);
        strangers.remove(socket);
        open.remove(socket);
    }

    /// Disconnects a client that does not reply to the close.
    void cutSoon(SocketClient peer) {
        jobs.once(FAREWELL, "disconnect", peer::cut);
    }

    private void check() {
        long now = System.nanoTime();
        for (GuardedSocket socket : open) {
            if (socket.isInside()) {
                // The lookup of a sandbox may wait for its recovery.
                Thread.ofVirtual().name("socket-check").start(socket::beat);
            } else if (socket.peer().isSilent() && now - socket.peer().openedAt() > introduction.toNanos()) {
                String silence = "nothing was said within " + introduction.toSeconds() + " s";
                socket.close(CloseReason.of(new Failure.NotAuthenticated(silence)));
            }
        }
    }

    private void ping() {
        long now = System.nanoTime();
        for (GuardedSocket socket : open) {
            if (now - socket.peer().heardAt() > SILENCE.toNanos()) {
                socket.close(new CloseReason(1001, "nothing was heard for " + SILENCE.toSeconds() + " s"));
            } else if (socket.isInside()) {
                socket.peer().ping();
            }
        }
    }

    /// Closes every socket with a reason. Shells and commands continue. Idempotent.
    @Override
    public void close() {
        closed = true;
        List<GuardedSocket> last = List.copyOf(open);
        last.forEach(socket -> socket.close(CloseReason.stopping()));
        long deadline = System.nanoTime() + FAREWELL.toNanos();
        last.forEach(socket -> socket.peer().awaitFarewell(Duration.ofNanos(deadline - System.nanoTime())));
        jobs.close();
    }
}
