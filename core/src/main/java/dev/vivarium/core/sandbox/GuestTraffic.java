package dev.vivarium.core.sandbox;

import dev.vivarium.core.guest.GuestObserver;
import dev.vivarium.core.guest.Service;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/// Observer of the requests to one guest. It extends the lease, limits the number of commands, and finds the cause of a
/// lost stream or a killed command. Thread-safe.
final class GuestTraffic implements GuestObserver {
    private static final int SIGKILL = 9;

    /// Maximum wait of a caller whose stream broke for the state of the sandbox. The state is known within ten
    /// seconds, or later on a busy host.
    private static final Duration DIAGNOSIS = Duration.ofSeconds(30);

    private final Sandbox sandbox;
    private final BackgroundTasks tasks;
    private final int mostCommands;
    private final AtomicInteger commands = new AtomicInteger();

    GuestTraffic(Sandbox sandbox, BackgroundTasks tasks, int mostCommands) {
        this.sandbox = sandbox;
        this.tasks = tasks;
        this.mostCommands = mostCommands;
    }

    @Override
    public void began(Service service) {
        tasks.refuseWhileDraining();
        switch (service) {
            case EXEC, PTY -> {
                takeSlot();
                sandbox.lease().began();
            }
            case READ, WRITE, MKDIR, MOVE, REMOVE, DIAL, HASH -> sandbox.lease().began();
            // Reads of metadata do not extend the lease.
            case STAT, LIST, WATCH, STATS, SETUP, LISTEN -> {}
        }
    }

    @Override
    public void ended(Service service) {
        switch (service) {
            case EXEC, PTY -> {
                commands.decrementAndGet();
                sandbox.lease().ended();
            }
            case READ, WRITE, MKDIR, MOVE, REMOVE, DIAL, HASH -> sandbox.lease().ended();
            case STAT, LIST, WATCH, STATS, SETUP, LISTEN -> {}
        }
    }

    private void takeSlot() {
        if (commands.incrementAndGet() > mostCommands) {
            commands.decrementAndGet();
            throw new SandboxException(new Failure.TooManyCommands(sandbox.id(), mostCommands));
        }
    }

    @Override
    public Failure explain(Failure.GuestUnreachable loss) {
        if (tasks.isDraining()) {
            return new Failure.ShuttingDown();
        }
        // The check whether the machine lives may not have started yet.
        State outcome = sandbox.awaitDiagnosis(DIAGNOSIS);
        return outcome.findEnd()
                .<Failure>map(end -> new Failure.SandboxEnded(sandbox.id(), end))
                .orElse(loss);
    }

    @Override
    public Exit explain(Exit exit) {
        boolean killed = exit.cause() == Exit.Cause.SIGNALLED && exit.code() == SIGKILL;
        return killed && sandbox.wasOomKilled() ? exit.withCause(Exit.Cause.OOM) : exit;
    }
}
