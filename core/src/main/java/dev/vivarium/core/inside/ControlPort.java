package dev.vivarium.core.inside;

import dev.vivarium.core.guest.Channel;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.InsideListener;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One sandbox's way to the server: a port on its own loopback, once somebody has opened it, for as long as the sandbox
/// lives. Thread-safe.
///
/// The port stays the same when the stream to the guest breaks, and for the next server: programs inside were told of
/// it once. A sandbox whose door was never opened has nothing of it.
public final class ControlPort {
    private static final Logger LOG = LoggerFactory.getLogger(ControlPort.class);

    /// Below the ports that kernels give out by themselves, and beside those of the way out.
    private static final int FIRST_PORT = 30_000;

    private static final int PORTS = 2_500;
    private static final int ATTEMPTS = 8;
    private static final int STRIDE = 311;

    /// How many connections a sandbox may have to the server at a time; the next ones wait in its kernel.
    private static final int CONNECTIONS = 64;

    private static final int CLOSED = 0;

    private final SandboxId id;
    private final ControlPortHandler controlPortHandler;

    /// Whoever opens the listener does so in turn: it takes a word with the guest.
    private final Semaphore turn = new Semaphore(1, true);

    private volatile int port;
    private volatile Optional<Standing> standing = Optional.empty();

    /// A listener, and the guest it is a listener of.
    private record Standing(Guest guest, InsideListener listener) {}

    private ControlPort(SandboxId id, ControlPortHandler controlPortHandler, int port) {
        this.id = id;
        this.controlPortHandler = controlPortHandler;
        this.port = port;
    }

    /// A door that nobody has opened.
    public static ControlPort closed(SandboxId id, ControlPortHandler controlPortHandler) {
        return new ControlPort(id, controlPortHandler, CLOSED);
    }

    /// A door that an earlier server opened, at this port.
    public static ControlPort openAt(SandboxId id, ControlPortHandler controlPortHandler, int port) {
        return new ControlPort(id, controlPortHandler, port);
    }

    /// Opens it and says where it is, as programs inside see it; it stays open. `save` is told the port when it is
    /// first opened, before anybody else. Fails with `ProviderFailed` when no port is to be had.
    public URI open(Guest guest, IntConsumer save) {
        turn.acquireUninterruptibly();
        try {
            if (!listensOn(guest)) {
                standing = Optional.of(new Standing(guest, port == CLOSED ? first(guest, save) : again(guest)));
            }
            return URI.create("http://127.0.0.1:" + port);
        } finally {
            turn.release();
        }
    }

    /// Opens it again for a guest that has just been greeted, if it was open. A guest that cannot do that is left
    /// without.
    public void attach(Guest guest) {
        if (port == CLOSED) {
            return;
        }
        try {
            open(guest, _ -> {});
        } catch (SandboxException e) {
            LOG.warn("sandbox {} cannot reach the server: {}", id, e.getMessage());
        }
    }

    private boolean listensOn(Guest guest) {
        return standing.filter(present -> present.guest() == guest).isPresent();
    }

    private InsideListener again(Guest guest) {
        return guest.listen(port, CONNECTIONS, this::serve);
    }

    /// A program inside, or on a host without isolation anybody, may have the port that was meant for it.
    private InsideListener first(Guest guest, IntConsumer save) {
        for (int attempt = 0; ; attempt++) {
            int candidate = FIRST_PORT + Math.floorMod(id.value().hashCode() + attempt * STRIDE, PORTS);
            try {
                InsideListener listener = guest.listen(candidate, CONNECTIONS, this::serve);
                keep(listener, save);
                return listener;
            } catch (SandboxException e) {
                if (!guest.isOpen() || attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private void keep(InsideListener listener, IntConsumer save) {
        try {
            save.accept(listener.port());
            port = listener.port();
        } catch (RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    private void serve(Channel channel) {
        try (var visit = new InsideConnection(id, channel)) {
            controlPortHandler.serve(visit);
        }
    }
}
