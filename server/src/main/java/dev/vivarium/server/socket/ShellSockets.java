package dev.vivarium.server.socket;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Tokens;
import dev.vivarium.core.access.Watch;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.api.Callers;
import dev.vivarium.server.http.Admission;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Exchange;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Every open socket to a shell. Closes those whose client does not say who it is, may no longer be there, or is gone
/// without a word. Thread-safe.
public final class ShellSockets implements AutoCloseable {
    /// How long a client has to say who it is.
    private static final Duration AUTH = Duration.ofSeconds(5);

    /// How often every socket is looked at; a revoked key closes its socket that soon. Tokens tell by themselves.
    private static final Duration CHECK = Duration.ofMillis(400);

    private static final Duration PING = Duration.ofSeconds(20);
    private static final Duration SILENCE = Duration.ofSeconds(50);

    /// How long a client has to answer a close.
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final Admission admission;
    private final Tokens tokens;
    private final Callers callers;
    private final ShellWitness witness;
    private final Set<ShellSocket> open = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService pulse = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("shell-sockets").factory());
    private volatile boolean closed;

    public ShellSockets(Admission admission, Tokens tokens, Callers callers, ShellWitness witness) {
        this.admission = admission;
        this.tokens = tokens;
        this.callers = callers;
        this.witness = witness;
        var _ = pulse.scheduleWithFixedDelay(this::check, CHECK.toMillis(), CHECK.toMillis(), TimeUnit.MILLISECONDS);
        var _ = pulse.scheduleWithFixedDelay(this::ping, PING.toMillis(), PING.toMillis(), TimeUnit.MILLISECONDS);
    }

    /// `GET /sandboxes/{sandbox_id}/shell`, which becomes a WebSocket. Who comes is asked there, in the first
    /// message.
    public void handle(Exchange exchange) {
        exchange.allowQuery();
        String sandboxId = exchange.path("sandbox_id");
        exchange.upgrade(() -> new ShellSocket(this, sandboxId));
    }

    /// Lets in whoever holds `credential` and may do `wanted`; a refusal is on record.
    Caller admit(String sandboxId, String credential, Scope wanted) {
        try {
            return admission.admit(sandboxId, credential, wanted);
        } catch (SandboxException e) {
            var who = admission.find(credential);
            witness.refused(sandboxId, who, e.failure());
            // A token for another sandbox is no token here; only somebody with a key is told that there is none.
            if (e.failure() instanceof Failure.NoSuchSandbox
                    && who.filter(Principal.Holder.class::isInstance).isPresent()) {
                throw new SandboxException(new Failure.NotAuthenticated("the token is not for this sandbox"), e);
            }
            throw e;
        }
    }

    /// Calls `listener` when the caller's token ends; nothing for whoever came with a key.
    Optional<Watch> watch(Caller caller, Consumer<Watch.Ended> listener) {
        return caller.principal().orElseThrow() instanceof Principal.Holder(var grant)
                ? Optional.of(tokens.watch(grant, listener))
                : Optional.empty();
    }

    Callers callers() {
        return callers;
    }

    ShellWitness witness() {
        return witness;
    }

    /// Reports whether the socket may stay; not if the server is stopping.
    boolean add(ShellSocket socket) {
        open.add(socket);
        return !closed;
    }

    void remove(ShellSocket socket) {
        open.remove(socket);
    }

    /// Cuts the connection of a client that does not answer the close.
    void cutSoon(Peer peer) {
        if (!closed) {
            var _ = pulse.schedule(peer::cut, FAREWELL.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void check() {
        long now = System.nanoTime();
        for (ShellSocket socket : open) {
            if (socket.isInside()) {
                // To look a sandbox up may wait for it to be found again.
                Thread.ofVirtual().name("shell-check").start(socket::beat);
            } else if (socket.peer().isSilent() && now - socket.peer().openedAt() > AUTH.toNanos()) {
                socket.close(Close.of(new Failure.NotAuthenticated("nothing was said within 5 s")));
            }
        }
    }

    private void ping() {
        long now = System.nanoTime();
        for (ShellSocket socket : open) {
            if (now - socket.peer().heardAt() > SILENCE.toNanos()) {
                socket.close(new Close(1001, "nothing was heard for " + SILENCE.toSeconds() + " s"));
            } else if (socket.isInside()) {
                socket.peer().ping();
            }
        }
    }

    /// Closes every socket; shells go on. Idempotent.
    @Override
    public void close() {
        closed = true;
        for (ShellSocket socket : open) {
            socket.close(Close.stopping());
        }
        pulse.shutdownNow();
    }
}
