package dev.vivarium.core.sandbox;

import dev.vivarium.core.StoreId;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.core.store.SnapshotRows;
import java.util.List;

/// Shared collaborators of the classes that create, find, snapshot and end sandboxes. Thread-safe.
final class Engine {
    final Provider provider;
    final Inventory inventory;
    final StoreId store;
    final SandboxRows rows;
    final SandboxesConfig config;
    final TimeSource timeSource;
    final Listeners listeners;
    final DiskSpace space;
    final UserQuotas quotas;
    final BackgroundTasks tasks = new BackgroundTasks();
    final Registry registry = new Registry();

    Engine(Provider provider, Db db, SandboxesConfig config, List<SandboxListener> listeners, TimeSource timeSource) {
        this.provider = provider;
        this.inventory = provider.inventory();
        this.store = db.id();
        this.rows = new SandboxRows(db);
        this.config = config;
        this.timeSource = timeSource;
        this.listeners = new Listeners(listeners);
        this.space = new DiskSpace(config.disk());
        this.quotas = new UserQuotas(config.room(), new SnapshotRows(db));
    }
}
