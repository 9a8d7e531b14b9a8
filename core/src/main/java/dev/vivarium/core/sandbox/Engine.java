package dev.vivarium.core.sandbox;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.StoreId;
import dev.vivarium.core.egress.EgressProxy;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.core.guest.GuestLoop;
import dev.vivarium.core.inside.ControlPort;
import dev.vivarium.core.inside.ControlPorts;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.EndMarkers;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.core.store.SandboxRows.StoredPause;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// State and collaborators that the parts of this package share. Thread-safe.
final class Engine {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

    final Provider provider;
    final Inventory inventory;
    final StoreId store;
    final SandboxRows rows;
    final SandboxesConfig config;
    final TimeSource timeSource;
    final ByteBudget memory;
    final GuestLoop loop;
    final EgressProxy egressProxy;
    final BackgroundTasks tasks = new BackgroundTasks();
    final ControlPorts controlPorts = new ControlPorts();
    final Registry registry = new Registry();
    final DiskSpace space;

    /// Markers of ends that the store has not accepted yet.
    final Optional<EndMarkers> markers;

    /// In the order of their calls.
    private final List<SandboxListener> listeners;

    /// Control ports that an earlier server opened.
    private final Map<SandboxId, Integer> controlPortNumbers;

    /// Pause reasons of the sandboxes that an earlier server paused.
    private final Map<SandboxId, StoredPause> pauses;

    private volatile boolean draining;

    Engine(Provider provider, Db db, SandboxesConfig config, List<SandboxListener> listeners, TimeSource timeSource) {
        this.provider = provider;
        this.inventory = provider.inventory();
        this.store = db.id();
        this.rows = new SandboxRows(db);
        this.config = config;
        this.listeners = List.copyOf(listeners);
        this.timeSource = timeSource;
        this.memory = new ByteBudget(config.maxBytesInFlight());
        this.loop = GuestLoop.start(memory);
        this.egressProxy = new EgressProxy(config.egress());
        this.controlPortNumbers = rows.controlPortNumbers();
        this.pauses = rows.pauses();
        this.space = new DiskSpace(config.disk());
        this.markers = config.disk().map(disk -> new EndMarkers(disk.home().resolve("ended")));
    }

    /// The control port of a sandbox, open if an earlier server opened it.
    ControlPort controlPort(SandboxId id) {
        Integer port = controlPortNumbers.get(id);
        return port == null ? ControlPort.closed(id, controlPorts) : ControlPort.openAt(id, controlPorts, port);
    }

    /// The pause reason that an earlier server stored.
    PauseReason pauseReason(SandboxId id) {
        return Optional.ofNullable(pauses.get(id)).map(PauseReason::of).orElse(PauseReason.UNKNOWN);
    }

    /// Calls every listener, in the order of registration. An exception is logged and stops no other listener.
    void tell(Consumer<SandboxListener> signal) {
        for (SandboxListener listener : listeners) {
            try {
                signal.accept(listener);
            } catch (RuntimeException e) {
                LOG.warn("A sandbox listener failed: {}", e.getMessage(), e);
            }
        }
    }

    /// The output listener of a new command: the first one that a sandbox listener returns.
    OutputListener outputListener(SandboxId sandbox, CommandStarted commandStarted) {
        for (SandboxListener listener : listeners) {
            try {
                OutputListener outputListener = listener.command(sandbox, commandStarted);
                if (outputListener != OutputListener.NOBODY) {
                    return outputListener;
                }
            } catch (RuntimeException e) {
                LOG.warn("A sandbox listener failed: {}", e.getMessage(), e);
            }
        }
        return OutputListener.NOBODY;
    }

    boolean isDraining() {
        return draining;
    }

    void startDraining() {
        draining = true;
    }

    void refuseWhileDraining() {
        if (draining) {
            throw new SandboxException(new Failure.ShuttingDown());
        }
    }
}
