package dev.vivarium.core.sandbox;

import dev.vivarium.core.guest.GuestObserver;
import dev.vivarium.core.guest.Service;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// Observer of the requests to one guest. It extends the lease, limits the number of commands, and finds the cause of a
/// lost stream or a killed command. Thread-safe.
final class GuestTraffic implements GuestObserver {
    private static final int SIGKILL = 9;

    /// Exit status of a shell whose command was killed.
    private static final int KILLED = 128 + SIGKILL;

    /// Maximum wait of a caller whose stream broke for the state of the sandbox. The state is known within ten
    /// seconds, or later on a busy host.
    private static final Duration DIAGNOSIS = Duration.ofSeconds(30);

    private final Sandbox sandbox;
    private final BackgroundTasks tasks;
    private final int maxCommands;
    private final AtomicInteger commands = new AtomicInteger();

    /// Commands with a reader: those that run now, and all that were started.
    private final AtomicInteger foreground = new AtomicInteger();

    private final AtomicInteger foregroundStarts = new AtomicInteger();

    GuestTraffic(Sandbox sandbox, BackgroundTasks tasks, int maxCommands) {
        this.sandbox = sandbox;
        this.tasks = tasks;
        this.maxCommands = maxCommands;
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

    /// A process that no client waits for takes a place among the commands, but its presence is no use: the reaper
    /// checks whether it works.
    @Override
    public GuestObserver ofKept() {
        return new GuestObserver() {
            @Override
            public void began(Service service) {
                tasks.refuseWhileDraining();
                takeSlot();
                sandbox.lease().touch();
            }

            @Override
            public void ended(Service service) {
                commands.decrementAndGet();
                sandbox.lease().touch();
            }
        };
    }

    /// An open connection of a program inside is no use, because the program may only wait. Its traffic is.
    @Override
    public GuestObserver ofInside() {
        return new GuestObserver() {
            @Override
            public void began(Service service) {
                tasks.refuseWhileDraining();
                sandbox.lease().touch();
            }

            @Override
            public void transferred() {
                sandbox.lease().touch();
            }
        };
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
        if (commands.incrementAndGet() > maxCommands) {
            commands.decrementAndGet();
            throw new SandboxException(new Failure.TooManyCommands(sandbox.id(), maxCommands));
        }
    }

    @Override
    public Failure diagnose(Failure.GuestUnreachable loss) {
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
    public CommandWatch watchCommand() {
        return new Foreground();
    }

    /// Command with a reader. The kernel may kill a process of the command whose exit its shell hides, as in
    /// `(program); exit $?` or `program | cat`. Only the counter of the whole sandbox reports that kill, so a
    /// command that did not end like a killed one is its victim only if no other command ran beside it.
    private final class Foreground implements CommandWatch {
        private final long kills = sandbox.oomKills();
        private final boolean isFirst = foreground.incrementAndGet() == 1;
        private final int starts = foregroundStarts.incrementAndGet();
        private final AtomicBoolean closed = new AtomicBoolean();

        @Override
        public Exit correctCause(Exit exit) {
            boolean isAlone = isFirst && foregroundStarts.get() == starts;
            close();
            boolean isKilled = exit.cause() == Exit.Cause.SIGNALLED && exit.code() == SIGKILL;
            boolean hidesKill = exit.cause() == Exit.Cause.EXITED && (isAlone || exit.code() == KILLED);
            if (!(isKilled || hidesKill) || sandbox.oomKills() <= kills) {
                return exit;
            }
            return isKilled ? exit.withCause(Exit.Cause.OOM) : exit.outOfMemory();
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                foreground.decrementAndGet();
            }
        }
    }

    @Override
    public Exit correctCause(Exit exit) {
        boolean killed = exit.cause() == Exit.Cause.SIGNALLED && exit.code() == SIGKILL;
        return killed && sandbox.wasOomKilled() ? exit.withCause(Exit.Cause.OOM) : exit;
    }
}
