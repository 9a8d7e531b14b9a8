package dev.vivarium.server.telemetry;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.sandbox.DiskSpace;
import dev.vivarium.core.sandbox.PoolStatus;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Prometheus meters, created on first use. Thread-safe.
///
/// Loading the metrics library takes longer than the rest of the server start.
public final class Metrics {
    private final FutureTask<Meters> meters = new FutureTask<>(Meters::new);

    /// Registers gauges and counters of the engine and of the audit log. Returns at once; a background thread
    /// creates the meters.
    ///
    /// @param dropped number of lost audit entries
    /// @param memory  memory for unfinished work
    /// @param space   average used disk space of sessions
    public void watch(
            Supplier<PoolStatus> pool,
            Supplier<DiskSpace.Reading> disk,
            LongSupplier dropped,
            ByteBudget memory,
            DoubleSupplier space) {
        Thread.ofVirtual().name("metrics").start(() -> {
            meters().watch(pool);
            meters().watchDisk(disk);
            meters().watchAudit(dropped);
            meters().watchMemory(memory);
            meters().watchWorkspaces(space);
        });
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
