package dev.vivarium.server.operation;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.telemetry.Telemetry;
import java.time.Duration;

/// Started command, as a stream of events. The caller pulls each event, so that a slow reader slows the command and no
/// queue grows. Confined to one thread, except [#kill].
public final class RunningCommand implements AutoCloseable {
    private static final int SIGKILL = 9;
    private static final String CLIENT_GONE = "client-gone";

    private final Execution execution;
    private final ManagedProcess process;
    private final Telemetry telemetry;
    private final SandboxInfo sandbox;
    private final String script;
    private final long start;
    private boolean isReported;

    /// @param start value of [System#nanoTime] before the command started
    RunningCommand(
            Execution execution,
            ManagedProcess process,
            Telemetry telemetry,
            SandboxInfo sandbox,
            String script,
            long start) {
        this.execution = execution;
        this.process = process;
        this.telemetry = telemetry;
        this.sandbox = sandbox;
        this.script = script;
        this.start = start;
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
                isReported = true;
                telemetry.commandEnded(sandbox, script, exit);
            }
            return event;
        } catch (SandboxException e) {
            fail(e.failure());
            throw e;
        }
    }

    /// Reports that the caller cannot use the output, unless the end of the command was reported.
    public void fail(Failure failure) {
        fail(failure.slug());
    }

    /// Reports that the client closed its connection, unless the end of the command was reported.
    public void abandon() {
        fail(CLIENT_GONE);
    }

    private void fail(String slug) {
        if (!isReported) {
            isReported = true;
            telemetry.commandFailed(sandbox, script, slug, Duration.ofNanos(System.nanoTime() - start));
        }
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
