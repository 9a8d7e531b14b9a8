package dev.vivarium.core.sandbox;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.StoreId;
import dev.vivarium.core.door.Door;
import dev.vivarium.core.door.Reception;
import dev.vivarium.core.egress.Gateway;
import dev.vivarium.core.exec.Audience;
import dev.vivarium.core.exec.Beginning;
import dev.vivarium.core.guest.GuestLoop;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.EndMarkers;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.core.store.SandboxRows.PauseReason;
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
    final World world;
    final ByteBudget memory;
    final GuestLoop loop;
    final Gateway gateway;
    final Tasks tasks = new Tasks();
    final Reception reception = new Reception();
    final Registry registry = new Registry();
    /// The free space of the home.
    final DiskSpace space;

    /// Ends that the store could not take.
    final Optional<EndMarkers> markers;

    final List<Consumer<SandboxId>> endListeners = new CopyOnWriteArrayList<>();

    /// Those who want something of a sandbox before it ends.
    final List<Consumer<Sandbox>> heirs = new CopyOnWriteArrayList<>();

    private final List<Observer> observers;

    /// The ports of doors that an earlier server opened.
    private final Map<SandboxId, Integer> doors;

    /// Why the sandboxes that an earlier server paused are paused.
    private final Map<SandboxId, PauseReason> pauses;

    private volatile boolean draining;

    Engine(Provider provider, Db db, SandboxesConfig config, List<Observer> observers, World world) {
        this.provider = provider;
        this.inventory = provider.inventory();
        this.store = db.id();
        this.rows = new SandboxRows(db);
        this.config = config;
        this.observers = List.copyOf(observers);
        this.world = world;
        this.memory = new ByteBudget(config.maxBytesInFlight());
        this.loop = GuestLoop.start(memory);
        this.gateway = new Gateway(config.egress());
        this.doors = rows.doors();
        this.pauses = rows.pauses();
        this.space = new DiskSpace(config.disk());
        this.markers = config.disk().map(disk -> new EndMarkers(disk.home().resolve("ended")));
    }

    /// The door of a sandbox as it was left.
    Door door(SandboxId id) {
        Integer port = doors.get(id);
        return port == null ? Door.closed(id, reception) : Door.openAt(id, reception, port);
    }

    /// Why a sandbox is paused that an earlier server left so.
    Occasion pauseReason(SandboxId id) {
        return Optional.ofNullable(pauses.get(id)).map(Occasion::of).orElse(Occasion.UNKNOWN);
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
    Audience audience(SandboxId sandbox, Beginning beginning) {
        for (Observer observer : observers) {
            Audience audience = observer.command(sandbox, beginning);
            if (audience != Audience.NOBODY) {
                return audience;
            }
        }
        return Audience.NOBODY;
    }

    /// Lets those who want something of a sandbox take it while it is there.
    void tellEnding(Sandbox sandbox) {
        tellAll(heirs, heir -> heir.accept(sandbox));
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
