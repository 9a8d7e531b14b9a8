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

/// A real provider that fails, or waits, at the steps a test names. Thread-safe.
final class FaultyProvider implements Provider {
    private final Provider inner;
    private final Map<Step, AtomicInteger> failures = new ConcurrentHashMap<>();
    private final Map<Step, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final Map<Step, CountDownLatch> incomingConnections = new ConcurrentHashMap<>();
    private final AtomicInteger seemingLives = new AtomicInteger();
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

    /// The next `times` uses of `step` fail.
    void fail(Step step, int times) {
        failures.put(step, new AtomicInteger(times));
    }

    /// Reports whether `step` has failed as often as it should.
    boolean hasFailed(Step step) {
        return failures.get(step).get() <= 0;
    }

    /// The next `times` that somebody asks, machines live: as one does whose stream has ended and that is still
    /// dying.
    void seemAlive(int times) {
        seemingLives.set(times);
    }

    /// Whoever comes to `step` waits until [#open].
    void hold(Step step) {
        gates.put(step, new CountDownLatch(1));
        incomingConnections.put(step, new CountDownLatch(1));
    }

    void awaitArrival(Step step) throws InterruptedException {
        incomingConnections.get(step).await();
    }

    void open(Step step) {
        gates.remove(step).countDown();
    }

    private void pass(Step step) {
        CountDownLatch gate = gates.get(step);
        if (gate != null) {
            incomingConnections.get(step).countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        AtomicInteger left = failures.get(step);
        if (left != null && left.getAndDecrement() > 0) {
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
    public Optional<Machine> adopt(SandboxId id, Duration patience) {
        pass(Step.ADOPT);
        return inner.adopt(id, patience).map(FaultyMachine::new);
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
        public GuestStream connect(Duration patience) {
            pass(Step.CONNECT);
            return machine.connect(patience);
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
        public boolean isAlive() {
            return seemingLives.getAndUpdate(left -> Math.max(0, left - 1)) > 0 || machine.isAlive();
        }

        @Override
        public String workspace() {
            return machine.workspace();
        }
    }
}
