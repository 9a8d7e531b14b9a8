package dev.vivarium.core.sandbox;

import dev.vivarium.core.provider.Capabilities;
import dev.vivarium.core.provider.GuestStream;
import dev.vivarium.core.provider.Inventory;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.MachineSpec;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/// Real provider that fails or blocks at the steps that a test names. Thread-safe.
final class FaultyProvider implements Provider {
    private final Provider inner;
    private final Map<Step, AtomicInteger> failures = new ConcurrentHashMap<>();
    private final Map<Step, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final Map<Step, CountDownLatch> reached = new ConcurrentHashMap<>();
    private final AtomicInteger fakeAliveAnswers = new AtomicInteger();
    final Set<Limits> limitsGiven = ConcurrentHashMap.newKeySet();
    volatile long oomKills;
    volatile boolean keepsSnapshots = true;

    enum Step {
        START,
        AFTER_START,
        CONNECT,
        LIMIT,
        PAUSE,
        RESUME,
        ADOPT,
        SURVIVORS,
        REMOVE,
        AFTER_REMOVE,
        SNAPSHOT,
        RESTORE
    }

    FaultyProvider(Provider inner) {
        this.inner = inner;
    }

    /// Makes the next `times` calls of `step` fail.
    void fail(Step step, int times) {
        failures.put(step, new AtomicInteger(times));
    }

    /// Reports whether `step` has failed as often as requested.
    boolean hasFailed(Step step) {
        return failures.get(step).get() <= 0;
    }

    /// Makes the next `times` liveness checks return true, like a machine whose stream has ended and whose process
    /// still exits.
    void seemAlive(int times) {
        fakeAliveAnswers.set(times);
    }

    /// Blocks every call of `step` until [#open].
    void hold(Step step) {
        gates.put(step, new CountDownLatch(1));
        reached.put(step, new CountDownLatch(1));
    }

    void awaitArrival(Step step) throws InterruptedException {
        reached.get(step).await();
    }

    void open(Step step) {
        gates.remove(step).countDown();
    }

    private void pass(Step step) {
        CountDownLatch gate = gates.get(step);
        if (gate != null) {
            reached.get(step).countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        AtomicInteger remaining = failures.get(step);
        if (remaining != null && remaining.getAndDecrement() > 0) {
            throw new SandboxException(new Failure.ProviderFailed(step.name(), "as the test wants it"));
        }
    }

    @Override
    public String name() {
        return inner.name();
    }

    @Override
    public Capabilities capabilities() {
        Capabilities real = inner.capabilities();
        return keepsSnapshots
                ? real
                : new Capabilities(
                        real.isolation(),
                        real.diskLimit(),
                        "none",
                        real.cgroups(),
                        real.processes(),
                        real.isolates(),
                        real.pauses(),
                        real.limits());
    }

    @Override
    public void requireImage(String name) {
        inner.requireImage(name);
    }

    @Override
    public Machine start(MachineSpec spec) {
        pass(Step.START);
        Machine machine = inner.start(spec);
        pass(Step.AFTER_START);
        return new FaultyMachine(machine);
    }

    @Override
    public Optional<Machine> adopt(SandboxId id, Duration timeout) {
        pass(Step.ADOPT);
        return inner.adopt(id, timeout).map(FaultyMachine::new);
    }

    @Override
    public Set<SandboxId> survivors() {
        pass(Step.SURVIVORS);
        return inner.survivors();
    }

    @Override
    public long snapshot(SandboxId id, SnapshotId snapshot) {
        pass(Step.SNAPSHOT);
        return inner.snapshot(id, snapshot);
    }

    @Override
    public void restore(SandboxId id, SnapshotId snapshot) {
        pass(Step.RESTORE);
        inner.restore(id, snapshot);
    }

    @Override
    public void deleteSnapshot(SnapshotId snapshot) {
        inner.deleteSnapshot(snapshot);
    }

    @Override
    public Set<SnapshotId> snapshots() {
        return inner.snapshots();
    }

    @Override
    public Inventory inventory() {
        return inner.inventory();
    }

    @Override
    public void remove(SandboxId id, Disk disk) {
        pass(Step.REMOVE);
        inner.remove(id, disk);
        pass(Step.AFTER_REMOVE);
    }

    @Override
    public void close() {
        inner.close();
    }

    private final class FaultyMachine implements Machine {
        private final Machine machine;

        private FaultyMachine(Machine machine) {
            this.machine = machine;
        }

        @Override
        public SandboxId id() {
            return machine.id();
        }

        @Override
        public GuestStream connect(Duration timeout) {
            pass(Step.CONNECT);
            return machine.connect(timeout);
        }

        @Override
        public void pause() {
            pass(Step.PAUSE);
            machine.pause();
        }

        @Override
        public void resume() {
            pass(Step.RESUME);
            machine.resume();
        }

        @Override
        public void limit(Limits limits) {
            pass(Step.LIMIT);
            limitsGiven.add(limits);
            machine.limit(limits);
        }

        @Override
        public void orphanGrace(Duration grace) {
            machine.orphanGrace(grace);
        }

        @Override
        public Usage usage() {
            Usage usage = machine.usage();
            return new Usage(usage.memoryBytes(), usage.cpu(), usage.processes(), oomKills);
        }

        @Override
        public long storageBytes() {
            return machine.storageBytes();
        }

        @Override
        public boolean isAlive() {
            return fakeAliveAnswers.getAndUpdate(remaining -> Math.max(0, remaining - 1)) > 0 || machine.isAlive();
        }

        @Override
        public String workspace() {
            return machine.workspace();
        }
    }
}
