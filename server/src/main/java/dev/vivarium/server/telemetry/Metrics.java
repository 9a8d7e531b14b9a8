package dev.vivarium.server.telemetry;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.sandbox.DiskSpace;
import dev.vivarium.core.sandbox.PoolStatus;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// The numbers for Prometheus, made when they are first needed: the library behind them takes longer to load than the
/// rest of the server to start. Thread-safe.
public final class Metrics {
    private final FutureTask<Meters> meters = new FutureTask<>(Meters::new);

    /// Shows how full the house is. Returns at once; the meters are made behind the caller's back.
    public void watch(Supplier<PoolStatus> pool) {
        Thread.ofVirtual().name("metrics").start(() -> meters().watch(pool));
    }

    /// Shows how many entries the audit has lost.
    public void watchAudit(LongSupplier dropped) {
        Thread.ofVirtual().name("metrics").start(() -> meters().watchAudit(dropped));
    }

    /// Shows the free space of the home.
    public void watchDisk(Supplier<DiskSpace.Reading> disk) {
        Thread.ofVirtual().name("metrics").start(() -> meters().watchDisk(disk));
    }

    /// Shows how many bytes are held for unfinished work.
    public void watchMemory(ByteBudget budget) {
        Thread.ofVirtual().name("metrics").start(() -> meters().watchMemory(budget));
    }

    /// Everything, in Prometheus's own text format.
    public String text() {
        return meters().text();
    }

    /// The meters; whoever comes first makes them, and the others wait.
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
