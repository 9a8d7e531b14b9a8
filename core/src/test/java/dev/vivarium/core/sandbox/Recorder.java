package dev.vivarium.core.sandbox;

import dev.vivarium.core.egress.EgressRecord;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/// Listener that records its calls. Thread-safe.
final class Recorder implements SandboxListener {
    final List<Origin> origins = new CopyOnWriteArrayList<>();
    final List<SandboxInfo> reused = new CopyOnWriteArrayList<>();
    final List<SandboxInfo> removed = new CopyOnWriteArrayList<>();
    final List<Recovery> recoveries = new CopyOnWriteArrayList<>();
    final List<SandboxId> orphans = new CopyOnWriteArrayList<>();
    final List<SandboxId> notRemoved = new CopyOnWriteArrayList<>();
    final List<EgressRecord> egressRecords = new CopyOnWriteArrayList<>();
    final List<Failure> poolFailures = new CopyOnWriteArrayList<>();
    final List<SandboxId> hibernations = new CopyOnWriteArrayList<>();
    final List<Transition> transitions = new CopyOnWriteArrayList<>();

    EnumSet<Transition> visited() {
        return transitions.isEmpty() ? EnumSet.noneOf(Transition.class) : EnumSet.copyOf(transitions);
    }

    @Override
    public void created(SandboxInfo sandbox, Origin origin, Duration took) {
        origins.add(origin);
    }

    @Override
    public void reused(SandboxInfo sandbox) {
        reused.add(sandbox);
    }

    @Override
    public void recovered(SandboxInfo sandbox, Recovery how) {
        recoveries.add(how);
    }

    @Override
    public void hibernated(SandboxInfo sandbox, PauseReason why) {
        hibernations.add(sandbox.id());
    }

    @Override
    public void removed(SandboxInfo sandbox) {
        removed.add(sandbox);
    }

    @Override
    public void moved(SandboxId id, Transition transition) {
        transitions.add(transition);
    }

    @Override
    public void orphanRemoved(SandboxId id) {
        orphans.add(id);
    }

    @Override
    public void removalFailed(SandboxId id, String why) {
        notRemoved.add(id);
    }

    @Override
    public void passed(SandboxInfo sandbox, EgressRecord egressRecord) {
        egressRecords.add(egressRecord);
    }

    @Override
    public void poolStartFailed(Failure failure) {
        poolFailures.add(failure);
    }
}
