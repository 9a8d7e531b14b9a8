package dev.vivarium.core.run;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.files.Upload;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Installer and starter of workers in sandboxes. A worker outlives the server. Thread-safe.
public final class Workers {
    /// Directory of the worker's files in the workspace.
    static final String STATE = ".vivarium";

    private static final Logger LOG = LoggerFactory.getLogger(Workers.class);

    private static final Duration KILL_TIMEOUT = Duration.ofSeconds(20);

    private static final String FILE = STATE + "/worker.pyz";

    /// The Python of the image comes first, because it has the SDKs of the agents.
    private static final String START = """
            chmod 700 "$WORKER_STATE_DIR" || exit 1
            for python in /opt/vivarium/python/bin/python3 python3; do
              if command -v "$python" > /dev/null; then
                exec "$python" "$WORKER_STATE_DIR/worker.pyz" "$@"
              fi
            done
            echo "the image has no python3, which a worker needs" >&2
            exit 127""";

    private static final Set<String> OWN = Set.of(
            "BACKEND_URL",
            "SANDBOX_TOKEN",
            "SANDBOX_ID",
            "TASK_ID",
            "RUN_ID",
            "RUNTIME",
            "MODEL_URL",
            "MODEL_TOKEN",
            "MODEL",
            "BUDGET_USD",
            "RESUME_SESSION",
            "WORKSPACE_DIR",
            "WORKER_STATE_DIR");

    /// Address of the model gateway, in the variables that the libraries of the vendors read.
    private static final Set<String> ANTHROPIC = Set.of("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY");

    private static final Set<String> OPENAI = Set.of("OPENAI_BASE_URL", "OPENAI_API_KEY");

    private static final String HEARTBEAT_SECONDS = "HEARTBEAT_SECONDS";

    private final byte[] program;
    private final Passes passes;
    private final Duration heartbeat;

    /// Issuer of the tokens of a run.
    public interface Passes {
        /// Issues a token for the worker API.
        String worker(Run run);

        /// Issues a token for the model gateway. Programs of the agent may read it.
        String model(Run run);
    }

    /// @param program   the worker as one file
    /// @param heartbeat interval of heartbeats. A run can have a shorter one
    public Workers(byte[] program, Passes passes, Duration heartbeat) {
        this.program = program.clone();
        this.passes = passes;
        this.heartbeat = heartbeat;
    }

    /// Reports whether the server alone sets this variable of a run.
    public static boolean sets(Run.Runtime runtime, String variable) {
        return OWN.contains(variable)
                || switch (runtime) {
                    case CLAUDE -> ANTHROPIC.contains(variable);
                    case COMMAND -> ANTHROPIC.contains(variable) || OPENAI.contains(variable);
                    case OPENHANDS -> false;
                };
    }

    /// Starts the worker with the process name of the run.
    void start(Sandbox sandbox, Run run, Map<String, String> more, RunSetup.Prepared prepared) {
        try (Upload upload = sandbox.files().write(FILE, Upload.Limits.NONE)) {
            upload.write(program, 0, program.length);
            upload.commit();
        }
        var command = Command.of(argv(run).toArray(String[]::new)).withEnv(env(sandbox, run, more, prepared));
        String line = "vivarium-worker " + run.program().runtime().text();
        var origin = new ManagedProcess.Origin(line, run.owner().value(), ProcessInfo.Kind.DETACHED);
        sandbox.detach(run.process().orElseThrow(), command, origin);
    }

    /// Kills the processes that a run left behind. The worker's processes have the id of the run in their
    /// environment.
    static void killProcesses(Sandbox sandbox, Run run) {
        var command = Command.of(
                        "sh",
                        "-c",
                        START,
                        "vivarium-worker",
                        "kill-run",
                        run.id().value())
                .withEnv(Map.of("WORKER_STATE_DIR", sandbox.workspace() + "/" + STATE))
                .withTimeout(KILL_TIMEOUT);
        try (Execution execution = sandbox.execInternal(command)) {
            ExecResult _ = execution.collect();
        } catch (SandboxException e) {
            LOG.warn("Processes of run {} may be left in sandbox {}: {}", run.id(), run.sandbox(), e.getMessage());
        }
    }

    /// A longer interval would count as missed heartbeats.
    private String heartbeatSeconds(String wanted) {
        String max =
                BigDecimal.valueOf(heartbeat.toMillis(), 3).stripTrailingZeros().toPlainString();
        try {
            var seconds = new BigDecimal(wanted.strip());
            return seconds.signum() > 0 && seconds.compareTo(new BigDecimal(max)) < 0 ? wanted : max;
        } catch (NumberFormatException e) {
            // The worker reports a text that is no number.
            return wanted.isBlank() ? max : wanted;
        }
    }

    private static List<String> argv(Run run) {
        var argv = new ArrayList<>(List.of(
                "sh", "-c", START, "vivarium-worker", run.program().runtime().text()));
        if (run.program().runtime() == Run.Runtime.COMMAND) {
            argv.add("--");
            argv.addAll(run.program().command());
        }
        return argv;
    }

    /// Only the worker gets the tokens. The environment of the sandbox, which every command gets, has none.
    private Map<String, String> env(Sandbox sandbox, Run run, Map<String, String> more, RunSetup.Prepared prepared) {
        String server = sandbox.openControlPort().toString();
        String workspace = sandbox.workspace();
        var env = new HashMap<>(more);
        env.put(HEARTBEAT_SECONDS, heartbeatSeconds(more.getOrDefault(HEARTBEAT_SECONDS, "")));
        env.putAll(prepared.env());
        env.put("BACKEND_URL", server);
        env.put("SANDBOX_TOKEN", passes.worker(run));
        env.put("SANDBOX_ID", run.sandbox().value());
        env.put("TASK_ID", run.task().value());
        env.put("RUN_ID", run.id().value());
        env.put("RUNTIME", run.program().runtime().text());
        env.put("MODEL_URL", server + "/model");
        env.put("MODEL_TOKEN", passes.model(run));
        env.put("WORKSPACE_DIR", prepared.directory().orElse(workspace));
        env.put("WORKER_STATE_DIR", workspace + "/" + STATE);
        run.program().model().ifPresent(model -> env.put("MODEL", model));
        run.budgetUsd().ifPresent(budget -> env.put("BUDGET_USD", budget.toPlainString()));
        run.session().ifPresent(session -> env.put("RESUME_SESSION", session));
        return env;
    }
}
