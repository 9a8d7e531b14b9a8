package dev.vivarium.server.api;

import dev.vivarium.core.ByteBudget;
import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.Processes;
import dev.vivarium.core.sandbox.Environment;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.json.ExecJson;
import dev.vivarium.model.Command;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.policy.Verdict;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.settings.CallConfig;
import dev.vivarium.server.telemetry.Telemetry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// A command that a caller asked for: checked, run, and answered with its result or with its events as they happen.
/// Thread-safe.
///
/// If the client hangs up, the command is killed with all its descendants: a write to a stream fails, and the wait for
/// a result is cancelled.
public final class CommandCall {
    private static final int MAX_SCRIPT_BYTES = 128 * 1024;

    private final CallConfig config;
    private final EnvironmentRule environment;
    private final Telemetry telemetry;
    private final SpooledOutput.Place outputs;

    /// @param directory for the files of long outputs
    /// @param budget    for the bytes in these files
    public CommandCall(CallConfig config, Telemetry telemetry, Path directory, ByteBudget budget) {
        this.config = config;
        this.environment = new EnvironmentRule(config.policy());
        this.telemetry = telemetry;
        this.outputs = new SpooledOutput.Place(directory, budget);
    }

    /// Throws what is wrong with a command before anything is looked up for it.
    void check(ExecJson.Request request) {
        int bytes = request.script().getBytes(StandardCharsets.UTF_8).length;
        require(bytes <= MAX_SCRIPT_BYTES, "command", "must be at most " + MAX_SCRIPT_BYTES + " bytes, not " + bytes);
        checkTimeout("timeout", request.command().timeout());
        checkTimeout("idle_timeout", request.command().idleTimeout());
        environment.check(request.command().env());
    }

    /// Runs a command that was checked, and answers.
    void run(Exchange exchange, Sandbox sandbox, ExecJson.Request request) throws IOException {
        checkPolicy(sandbox.info(), request.script());
        var format = EventStream.Format.accepted(exchange);
        if (format.isPresent()) {
            stream(exchange, format.get(), sandbox, request);
        } else {
            collect(exchange, sandbox, request);
        }
    }

    private void collect(Exchange exchange, Sandbox sandbox, ExecJson.Request request) throws IOException {
        // The command has ended before the answer is sent: a slow reader holds no place in the sandbox.
        try (var output = outputs.open(exchange)) {
            var exit = run(exchange, sandbox, request, output);
            exchange.answer(200, out -> output.write(out, exit));
        }
    }

    private Exit run(Exchange exchange, Sandbox sandbox, ExecJson.Request request, SpooledOutput output) {
        var session = sandbox.info();
        long start = System.nanoTime();
        try (var execution = sandbox.exec(command(sandbox, request));
                var _ = sandbox.processes().track(execution, origin(exchange, request))) {
            feed(execution, request.stdin());
            var exit = output.await(execution);
            telemetry.commandEnded(session, request.script(), exit);
            return exit;
        } catch (SandboxException e) {
            telemetry.commandFailed(session, request.script(), e.failure().slug(), since(start));
            throw e;
        }
    }

    private void stream(Exchange exchange, EventStream.Format format, Sandbox sandbox, ExecJson.Request request)
            throws IOException {
        var ending = new Told(sandbox.info(), request.script(), System.nanoTime());
        try (var execution = start(sandbox, request, ending);
                var tracked = sandbox.processes().track(execution, origin(exchange, request))) {
            feed(execution, request.stdin());
            try (var stream = ExecStream.begin(EventStream.begin(exchange, format), execution, tracked.id())) {
                stream.run(ending);
            }
        } catch (IOException e) {
            ending.abandoned();
            throw e;
        }
    }

    /// Starts a command that nobody waits for. Its input stays open for those who write to it later.
    ManagedProcess detach(Exchange exchange, Sandbox sandbox, ExecJson.Request request) {
        checkPolicy(sandbox.info(), request.script());
        var command =
                command(sandbox, request).withOutputLimit(Command.UNLIMITED).withInput(Command.Input.STREAM);
        var origin = new ManagedProcess.Origin(request.script(), who(exchange), ProcessInfo.Kind.DETACHED);
        var process = sandbox.detach(Processes.newName(), command, origin);
        request.stdin()
                .ifPresent(text -> Thread.ofVirtual()
                        .name("stdin-" + process.id())
                        .start(() -> write(process, text.getBytes(StandardCharsets.UTF_8))));
        return process;
    }

    private static void write(ManagedProcess process, byte[] bytes) {
        try {
            process.write(bytes, 0, bytes.length);
        } catch (SandboxException e) {
            // It has ended without reading what it was given.
        }
    }

    private static ManagedProcess.Origin origin(Exchange exchange, ExecJson.Request request) {
        return new ManagedProcess.Origin(request.script(), who(exchange), ProcessInfo.Kind.EXEC);
    }

    private static String who(Exchange exchange) {
        return exchange.principal().name().value();
    }

    private Execution start(Sandbox sandbox, ExecJson.Request request, Told ending) {
        try {
            return sandbox.exec(command(sandbox, request).withOutputLimit(Command.UNLIMITED));
        } catch (SandboxException e) {
            ending.failed(e.failure());
            throw e;
        }
    }

    /// The command as it is run. Behind a list of allowed commands, a name means the system's program of that name,
    /// whatever the workspace holds and whatever variables the sandbox was created with.
    private Command command(Sandbox sandbox, ExecJson.Request request) {
        var policy = config.policy();
        if (policy.mode() == CommandPolicy.Mode.OPEN) {
            return request.command();
        }
        return request.command()
                .trusted(Environment.namesOf(sandbox).stream()
                        .filter(name -> !policy.allowsVariable(name))
                        .sorted()
                        .toList());
    }

    /// Tells the operators how a streamed command ended, once. Confined to the worker that serves the request.
    private final class Told implements ExecStream.Ending {
        private final SandboxInfo session;
        private final String script;
        private final long start;
        private boolean told;

        Told(SandboxInfo session, String script, long start) {
            this.session = session;
            this.script = script;
            this.start = start;
        }

        @Override
        public void exited(Exit exit) {
            told = true;
            telemetry.commandEnded(session, script, exit);
        }

        @Override
        public void failed(Failure failure) {
            told = true;
            telemetry.commandFailed(session, script, failure.slug(), since(start));
        }

        /// The client hung up on a command that was still running.
        void abandoned() {
            if (!told) {
                telemetry.commandFailed(session, script, "client-gone", since(start));
            }
        }
    }

    /// Input is written by a worker of its own: a command may write much before it reads.
    private static void feed(Execution execution, Optional<String> stdin) {
        stdin.ifPresent(text -> Thread.ofVirtual()
                .name("stdin-" + execution.pid())
                .start(() -> {
                    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
                    try {
                        execution.write(bytes, 0, bytes.length);
                        execution.closeInput();
                    } catch (SandboxException e) {
                        // The reader of the output meets the same loss and reports it.
                    }
                }));
    }

    private void checkTimeout(String field, Optional<Duration> timeout) {
        Duration most = config.maxCommandTimeout();
        require(
                timeout.isEmpty() || timeout.get().compareTo(most) <= 0,
                field,
                "must be at most " + most.toSeconds() + " seconds");
    }

    private void checkPolicy(SandboxInfo session, String script) {
        if (config.policy().check(script) instanceof Verdict.Refused(String reason, Optional<String> pattern)) {
            var refusal = new Failure.PolicyRefused(script, reason, pattern);
            telemetry.commandRefused(session, refusal);
            throw new SandboxException(refusal);
        }
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw new SandboxException(new Failure.InvalidRequest(field, rule));
        }
    }
}
