package dev.vivarium.server.operation;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.Undo;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.Processes;
import dev.vivarium.core.sandbox.Environment;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Command;
import dev.vivarium.model.Failure;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.policy.CommandPolicy;
import dev.vivarium.policy.Verdict;
import dev.vivarium.server.settings.CallConfig;
import dev.vivarium.server.telemetry.Telemetry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/// Operation that runs a command in a sandbox: it validates the request, applies the command policy, registers the
/// process and reports metrics. Thread-safe.
public final class RunCommand {
    private static final int MAX_SCRIPT_BYTES = 128 * 1024;

    private final CallConfig config;
    private final EnvironmentRule environment;
    private final Telemetry telemetry;

    public RunCommand(CallConfig config, Telemetry telemetry) {
        this.config = config;
        this.environment = new EnvironmentRule(config.policy());
        this.telemetry = telemetry;
    }

    /// A command that [RunCommand#request] has validated. Immutable.
    public static final class Request {
        private final String script;
        private final Command command;
        private final Optional<String> stdin;

        private Request(String script, Command command, Optional<String> stdin) {
            this.script = script;
            this.command = command;
            this.stdin = stdin;
        }

        /// Returns a copy without a limit on the output, for a caller that streams it.
        public Request withUnlimitedOutput() {
            return new Request(script, command.withOutputLimit(Command.UNLIMITED), stdin);
        }
    }

    /// Validates a command, so that an invalid request fails before the sandbox is looked up or resumed.
    ///
    /// @param script the command as one line, for the policy and for people
    /// @param stdin  text for the standard input
    public Request request(String script, Command command, Optional<String> stdin) {
        int bytes = script.getBytes(StandardCharsets.UTF_8).length;
        require(bytes <= MAX_SCRIPT_BYTES, "command", "must be at most " + MAX_SCRIPT_BYTES + " bytes, not " + bytes);
        checkTimeout("timeout", command.timeout());
        checkTimeout("idle_timeout", command.idleTimeout());
        environment.check(command.env());
        return new Request(script, command, stdin);
    }

    /// Starts a command whose events the caller reads. The caller closes it, which kills a command that still runs.
    public RunningCommand start(Principal caller, Sandbox sandbox, Request request) {
        var info = sandbox.info();
        checkPolicy(info, request.script);
        long start = System.nanoTime();
        try (var undo = new Undo()) {
            var execution = undo.add(sandbox.exec(command(sandbox, request)));
            var process = sandbox.processes().track(execution, origin(caller, request, ProcessInfo.Kind.EXEC));
            request.stdin.ifPresent(text -> writeInput(execution, text));
            undo.keep();
            return new RunningCommand(execution, process, telemetry, info, request.script, start);
        } catch (SandboxException e) {
            var took = Duration.ofNanos(System.nanoTime() - start);
            telemetry.commandFailed(info, request.script, e.failure().slug(), took);
            throw e;
        }
    }

    /// Starts a command that runs on its own. Its standard input stays open for later writes.
    public ManagedProcess detach(Principal caller, Sandbox sandbox, Request request) {
        checkPolicy(sandbox.info(), request.script);
        var command =
                command(sandbox, request).withOutputLimit(Command.UNLIMITED).withInput(Command.Input.STREAM);
        var origin = origin(caller, request, ProcessInfo.Kind.DETACHED);
        var process = sandbox.detach(Processes.newName(), command, origin);
        request.stdin.ifPresent(text -> writeInput(process, text));
        return process;
    }

    private static ManagedProcess.Origin origin(Principal caller, Request request, ProcessInfo.Kind kind) {
        return new ManagedProcess.Origin(request.script, caller.name().value(), kind);
    }

    /// Returns the command to execute. Under an allow-list, a name always means the system's program of that name.
    /// Files in the workspace and variables of the sandbox cannot change it.
    private Command command(Sandbox sandbox, Request request) {
        var policy = config.policy();
        if (policy.mode() == CommandPolicy.Mode.OPEN) {
            return request.command;
        }
        return request.command.trusted(Environment.namesOf(sandbox).stream()
                .filter(name -> !policy.allowsVariable(name))
                .sorted()
                .toList());
    }

    /// Writes on a separate thread, because a command may fill its output before it reads its input.
    private static void writeInput(Execution execution, String text) {
        Thread.ofVirtual().name("stdin-" + execution.pid()).start(() -> {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            try {
                execution.write(bytes, 0, bytes.length);
                execution.closeInput();
            } catch (SandboxException e) {
                // The reader of the output gets the same failure and reports it.
            }
        });
    }

    private static void writeInput(ManagedProcess process, String text) {
        Thread.ofVirtual().name("stdin-" + process.id()).start(() -> {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            try {
                process.write(bytes, 0, bytes.length);
            } catch (SandboxException e) {
                // The process exited before it read its input.
            }
        });
    }

    private void checkTimeout(String field, Optional<Duration> timeout) {
        Duration max = config.maxCommandTimeout();
        require(
                timeout.isEmpty() || timeout.get().compareTo(max) <= 0,
                field,
                "must be at most " + max.toSeconds() + " seconds");
    }

    private void checkPolicy(SandboxInfo sandbox, String script) {
        if (config.policy().check(script) instanceof Verdict.Refused(String reason, Optional<String> pattern)) {
            var refusal = new Failure.PolicyRefused(script, reason, pattern);
            telemetry.commandRefused(sandbox, refusal);
            throw new SandboxException(refusal);
        }
    }
}
