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

/// Port on the loopback interface of a sandbox through which programs inside reach the server. Thread-safe.
///
/// The port opens on request and stays open until the sandbox ends. Programs inside receive the port once, so it stays
/// the same after a lost connection to the guest and after a server restart. A sandbox whose port was never opened has
/// no listener.
public final class ControlPort {
    private static final Logger LOG = LoggerFactory.getLogger(ControlPort.class);

    /// Below the ephemeral ports of the kernel, and apart from the range of the egress listeners.
    private static final int FIRST_PORT = 30_000;

    private static final int PORTS = 2_500;
    private static final int ATTEMPTS = 8;
    private static final int STRIDE = 311;

    /// Maximum number of concurrent connections of a sandbox to the server. Further connections wait in the backlog
    /// of its kernel.
    private static final int CONNECTIONS = 64;

    private static final int CLOSED = 0;

    private final SandboxId id;
    private final ControlPortHandler controlPortHandler;

    /// Serializes opening the listener, because it blocks on the guest.
    private final Semaphore mutex = new Semaphore(1, true);

    private volatile int port;
    private volatile Optional<Standing> standing = Optional.empty();

    /// A listener and its guest.
    private record Standing(Guest guest, InsideListener listener) {}

    private ControlPort(SandboxId id, ControlPortHandler controlPortHandler, int port) {
        this.id = id;
        this.controlPortHandler = controlPortHandler;
        this.port = port;
    }

    public static ControlPort closed(SandboxId id, ControlPortHandler controlPortHandler) {
        return new ControlPort(id, controlPortHandler, CLOSED);
    }

    /// Returns a port that an earlier server opened.
    public static ControlPort openAt(SandboxId id, ControlPortHandler controlPortHandler, int port) {
        return new ControlPort(id, controlPortHandler, port);
    }

    /// Opens the port and returns its URL for programs inside. The port stays open. At the first opening, `save`
    /// receives the port before any program can use it. Fails with `ProviderFailed` if no port is free.
    public URI open(Guest guest, IntConsumer save) {
        mutex.acquireUninterruptibly();
        try {
            if (!listensOn(guest)) {
                standing = Optional.of(new Standing(guest, port == CLOSED ? first(guest, save) : again(guest)));
            }
            return URI.create("http://127.0.0.1:" + port);
        } finally {
            mutex.release();
        }
    }

    /// Opens the port again for a guest that has just connected, if it was open. If the guest cannot listen, the
    /// sandbox cannot reach the server.
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

    /// Tries several ports: a program inside, or any program on a host without isolation, may occupy the intended
    /// one.
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
        try (var connection = new InsideConnection(id, channel)) {
            controlPortHandler.serve(connection);
        }
    }
}
