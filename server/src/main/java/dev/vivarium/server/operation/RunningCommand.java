package dev.vivarium.server.operation;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;

/// Started command, as a stream of events. The caller pulls each event, so that a slow reader slows the command and no
/// queue grows. Confined to one thread, except [#kill].
public final class RunningCommand implements AutoCloseable {
    private static final int SIGKILL = 9;

    private final Execution execution;
    private final ManagedProcess process;
    private final CommandReport report;

    RunningCommand(Execution execution, ManagedProcess process, CommandReport report) {
        this.execution = execution;
        this.process = process;
        this.report = report;
    }

    /// Returns the process id inside the sandbox.
    public int pid() {
        return execution.pid();
    }

    /// Returns the id by which the processes API finds the command.
    public String processId() {
        return process.id();
    }

    /// Waits for the next event. Reports an exit or a failure to the telemetry before it returns.
    public ExecEvent next() {
        try {
            var event = execution.next();
            if (event instanceof ExecEvent.Exited(Exit exit)) {
                report.exited(exit);
            }
            return event;
        } catch (SandboxException e) {
            report.failed(e.failure());
            throw e;
        }
    }

    /// Reports that the caller cannot use the output, unless the end of the command was reported.
    public void fail(Failure failure) {
        report.failed(failure);
    }

    /// Reports that the client closed its connection, unless the end of the command was reported.
    public void abandon() {
        report.abandoned();
    }

    /// Kills the command with all its descendants. [#next] then returns its exit.
    public void kill() {
        execution.signal(SIGKILL, SignalTarget.TREE);
    }

    /// Kills the command if it still runs, and removes it from the processes of the sandbox. Idempotent.
    @Override
    public void close() {
        try (execution) {
            process.close();
        }
    }
}
