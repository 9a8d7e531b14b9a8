package dev.vivarium.core.watch;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.provider.ProcessListener;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.model.Exit;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.ProcessEvent;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// Events of the processes that programs in sandboxes start, as the provider reports them. Register it as a listener of
/// the sandboxes and of the provider. Thread-safe.
public final class ProcessEvents implements ProcessListener, SandboxListener, AutoCloseable {
    private static final Duration PUBLISH_EVERY = Duration.ofMillis(100);
    private static final int SIGNAL_BITS = 0x7f;

    private final EventLog log;
    private final LongSupplier nanos;
    private final Scheduler.Jobs jobs;
    private final Map<SandboxId, ProcessReports> sandboxes = new ConcurrentHashMap<>();

    public ProcessEvents(EventLog log, Scheduler scheduler) {
        this.log = log;
        this.nanos = System::nanoTime;
        this.jobs = scheduler
                .jobs()
                .every(
                        PUBLISH_EVERY,
                        "publishing process events",
                        () -> sandboxes.values().forEach(ProcessReports::publishDue));
    }

    /// An agent runs this shell command with a tool. The command has events of its own, so the process that
    /// executes it gets none.
    public void toolCommand(SandboxId sandbox, String line) {
        reports(sandbox, reports -> reports.addToolCommand(line));
    }

    @Override
    public void started(SandboxId machine, int pid, String commandLine) {
        reports(machine, reports -> reports.add(new ProcessEvent.Started(pid, commandLine)));
    }

    @Override
    public void exited(SandboxId machine, int pid, int status, Duration took) {
        int signal = status & SIGNAL_BITS;
        var event = signal == 0
                ? new ProcessEvent.Completed(pid, Exit.Cause.EXITED, status >> Byte.SIZE, took)
                : new ProcessEvent.Completed(pid, Exit.Cause.SIGNALLED, Exit.signalCode(signal), took);
        reports(machine, reports -> reports.add(event));
    }

    @Override
    public void omitted(SandboxId machine, int processes) {
        reports(machine, reports -> reports.add(new ProcessEvent.Folded(processes)));
    }

    private void reports(SandboxId sandbox, Consumer<ProcessReports> action) {
        Optional.ofNullable(sandboxes.get(sandbox)).ifPresent(action);
    }

    @Override
    public void created(SandboxInfo sandbox, Origin origin, Duration took) {
        open(sandbox);
    }

    @Override
    public void woken(SandboxInfo sandbox, Duration took) {
        open(sandbox);
    }

    @Override
    public void recovered(SandboxInfo sandbox, Recovery how) {
        open(sandbox);
    }

    private void open(SandboxInfo sandbox) {
        sandboxes.computeIfAbsent(
                sandbox.id(),
                id -> new ProcessReports(event -> log.note(id, NewEvent.of(event, NewEvent.KERNEL)), nanos));
    }

    @Override
    public void hibernated(SandboxInfo sandbox, PauseReason why) {
        close(sandbox);
    }

    /// No event may follow the end of a sandbox in the log.
    @Override
    public void ended(SandboxInfo sandbox) {
        close(sandbox);
    }

    private void close(SandboxInfo sandbox) {
        Optional.ofNullable(sandboxes.remove(sandbox.id())).ifPresent(ProcessReports::close);
    }

    /// Stops publishing. Idempotent.
    @Override
    public void close() {
        jobs.close();
    }
}
