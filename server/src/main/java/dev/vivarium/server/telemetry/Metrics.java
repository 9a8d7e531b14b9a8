package dev.vivarium.server.telemetry;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.sandbox.DiskSpace;
import dev.vivarium.core.sandbox.PoolStatus;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Prometheus meters, created on first use. Thread-safe.
///
/// Loading the metrics library takes longer than the rest of the server start.
public final class Metrics {
    private final FutureTask<Meters> meters = new FutureTask<>(Meters::new);

    /// Registers gauges of the sessions and the pool. Returns at once; a background thread creates the meters.
    public void watch(Supplier<PoolStatus> pool) {
        Thread.ofVirtual().name("metrics").start(() -> meters().watch(pool));
    }

    /// Registers a counter of lost audit entries.
    public void watchAudit(LongSupplier dropped) {
        Thread.ofVirtual().name("metrics").start(() -> meters().watchAudit(dropped));
    }

    /// Registers gauges of the free space of the home.
    public void watchDisk(Supplier<DiskSpace.Reading> disk) {
        Thread.ofVirtual().name("metrics").start(() -> meters().watchDisk(disk));
    }

    /// Registers a gauge of the memory for unfinished work.
    public void watchMemory(ByteBudget budget) {
        Thread.ofVirtual().name("metrics").start(() -> meters().watchMemory(budget));
    }

    /// Returns all meters in Prometheus's text format.
    public String text() {
        return meters().text();
    }

    /// Returns the meters. The first caller creates them, and the others wait.
    Meters meters() {
        meters.run();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return meters.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw new IllegalStateException("making the meters", e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
