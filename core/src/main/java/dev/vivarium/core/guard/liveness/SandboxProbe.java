package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.OutputFollower;
import dev.vivarium.core.guest.GuestStats;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Command;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Examination of the sandbox of a run through its guest. Every step has a timeout. Thread-safe.
final class SandboxProbe {
    private static final Logger LOG = LoggerFactory.getLogger(SandboxProbe.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration NO_WAIT = Duration.ofMillis(1);
    private static final long MAX_OUTPUT = 1024L * 1024;

    private final Sandboxes sandboxes;
    private final ExecutorService threads;

    /// @param threads virtual threads
    SandboxProbe(Sandboxes sandboxes, ExecutorService threads) {
        this.sandboxes = sandboxes;
        this.threads = threads;
    }

    /// State of a sandbox.
    ///
    /// @param stats     absent if the guest does not respond
    /// @param worker    state of the worker, `gone` or `unknown`
    /// @param channel   kernel function in which the worker waits
    /// @param children  number of processes below the worker
    /// @param processes absent if no process could be started in the sandbox
    record Findings(
            Optional<GuestStats> stats,
            String worker,
            Optional<String> channel,
            int children,
            Optional<ProcessTable> processes,
            long oomKills) {
        boolean isDiskFull() {
            return stats.filter(some -> some.diskFree() < Sandboxes.MIN_FREE_BYTES)
                    .isPresent();
        }
    }

    Findings probe(Run run) {
        Optional<Sandbox> sandbox = within(() -> sandboxes.find(run.sandbox())).flatMap(found -> found);
        Optional<GuestStats> stats = sandbox.flatMap(box -> within(box::stats));
        if (stats.isEmpty()) {
            return new Findings(stats, "unknown", Optional.empty(), 0, Optional.empty(), ooms(sandbox));
        }
        Optional<ProcessTable> table =
                output(sandbox.get(), ProcessTable.SCRIPT).map(ProcessTable::parse);
        Optional<Integer> pid = workerPid(sandbox.get(), run);
        Optional<ProcessTable.Row> worker = table.flatMap(rows -> pid.flatMap(rows::find));
        String state = worker.map(row -> ProcessTable.word(row.state())).orElse(table.isPresent() ? "gone" : "unknown");
        return new Findings(
                stats,
                state,
                worker.map(ProcessTable.Row::channel).filter(channel -> !channel.isEmpty() && !channel.equals("0")),
                table.isPresent() && worker.isPresent()
                        ? table.get().descendants(worker.get().pid()).size()
                        : 0,
                table,
                ooms(sandbox));
    }

    private long ooms(Optional<Sandbox> sandbox) {
        return sandbox.flatMap(box -> within(() -> box.usage().oomKills())).orElse(0L);
    }

    private static Optional<Integer> workerPid(Sandbox sandbox, Run run) {
        try {
            return run.process()
                    .map(name -> (int) sandbox.processes().require(name).info().pid());
        } catch (SandboxException e) {
            return Optional.empty();
        }
    }

    /// Returns the output of a script in the sandbox. Empty if the script cannot run or takes too long.
    Optional<String> output(Sandbox sandbox, String script) {
        var command = Command.of("sh", "-c", script).withTimeout(TIMEOUT).withOutputLimit(MAX_OUTPUT);
        return within(() -> {
            try (Execution execution = sandbox.execInternal(command)) {
                return execution.collect().stdout();
            }
        });
    }

    /// Returns the kept output of the worker of a run.
    Optional<String> workerOutput(Sandbox sandbox, Run run) {
        return within(() -> {
            OutputFollower follower =
                    sandbox.processes().require(run.process().orElseThrow()).follow();
            var output = new ByteArrayOutputStream();
            while (follower.next(NO_WAIT) instanceof OutputFollower.News.Output some) {
                output.writeBytes(some.bytes());
            }
            return output.toString(StandardCharsets.UTF_8);
        });
    }

    private <T> Optional<T> within(Callable<T> call) {
        var result = threads.submit(call);
        try {
            return Optional.of(result.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException | TimeoutException e) {
            result.cancel(true);
            LOG.debug("a step of a probe failed: {}", String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            result.cancel(true);
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }
}
