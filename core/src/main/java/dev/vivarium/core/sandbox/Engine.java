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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What the parts of this package share. Thread-safe.
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
    /// The free space of the home.
    final DiskSpace space;

    /// Ends that the store could not take.
    final Optional<EndMarkers> markers;

    final List<Consumer<SandboxId>> endListeners = new CopyOnWriteArrayList<>();

    /// Those who want something of a sandbox before it ends.
    final List<Consumer<Sandbox>> endingListeners = new CopyOnWriteArrayList<>();

    private final List<Observer> observers;

    /// The ports of doors that an earlier server opened.
    private final Map<SandboxId, Integer> controlPortNumbers;

    /// Why the sandboxes that an earlier server paused are paused.
    private final Map<SandboxId, StoredPause> pauses;

    private volatile boolean draining;

    Engine(Provider provider, Db db, SandboxesConfig config, List<Observer> observers, TimeSource timeSource) {
        this.provider = provider;
        this.inventory = provider.inventory();
        this.store = db.id();
        this.rows = new SandboxRows(db);
        this.config = config;
        this.observers = List.copyOf(observers);
        this.timeSource = timeSource;
        this.memory = new ByteBudget(config.maxBytesInFlight());
        this.loop = GuestLoop.start(memory);
        this.egressProxy = new EgressProxy(config.egress());
        this.controlPortNumbers = rows.controlPortNumbers();
        this.pauses = rows.pauses();
        this.space = new DiskSpace(config.disk());
        this.markers = config.disk().map(disk -> new EndMarkers(disk.home().resolve("ended")));
    }

    /// The door of a sandbox as it was left.
    ControlPort controlPort(SandboxId id) {
        Integer port = controlPortNumbers.get(id);
        return port == null ? ControlPort.closed(id, controlPorts) : ControlPort.openAt(id, controlPorts, port);
    }

    /// Why a sandbox is paused that an earlier server left so.
    PauseReason pauseReason(SandboxId id) {
        return Optional.ofNullable(pauses.get(id)).map(PauseReason::of).orElse(PauseReason.UNKNOWN);
    }

    /// Tells the observers. They cannot harm: what they throw is logged here.
    void tell(Consumer<Observer> news) {
        tellAll(observers, news);
    }

    private static <T> void tellAll(List<T> listeners, Consumer<T> news) {
        for (T listener : listeners) {
            try {
                news.accept(listener);
            } catch (RuntimeException e) {
                LOG.warn("an observer failed: {}", e.getMessage(), e);
            }
        }
    }

    /// Who hears of a command that has just been started: the first observer that wants to.
    OutputListener outputListener(SandboxId sandbox, CommandStarted commandStarted) {
        for (Observer observer : observers) {
            OutputListener outputListener = observer.command(sandbox, commandStarted);
            if (outputListener != OutputListener.NOBODY) {
                return outputListener;
            }
        }
        return OutputListener.NOBODY;
    }

    /// Lets those who want something of a sandbox take it while it is there.
    void tellEnding(Sandbox sandbox) {
        tellAll(endingListeners, endingListener -> endingListener.accept(sandbox));
    }

    /// Tells those who keep something for a sandbox that it has ended. They cannot harm either.
    void tellEnded(SandboxId id) {
        tellAll(endListeners, listener -> listener.accept(id));
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
