package dev.vivarium.examples;

import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Exit;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.Recreated;
import dev.vivarium.sdk.Sandbox;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Bash tool of an agent: takes a command and returns text for the model. Thread-safe.
///
/// It returns failures as text too, because a model can act on a sentence and not on an exception.
public final class BashTool {
    /// Definition of the tool, in the format of function-calling APIs.
    public static final String DEFINITION = """
            {
              "name": "bash",
              "description": "Runs a bash command in a Linux sandbox that belongs to this conversation. Files in the \
            current directory stay from one command to the next; shell variables and `cd` do not. There is no network. \
            Commands are stopped after timeout_seconds; start longer ones in the background with output to a file.",
              "input_schema": {
                "type": "object",
                "properties": {
                  "command": {"type": "string", "description": "The command line, for bash -c."},
                  "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "default": 30}
                },
                "required": ["command"]
              }
            }
            """;

    /// Maximum number of characters of one stream for the model.
    private static final int SHOWN = 8_000;

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Sandbox box;
    private final AtomicReference<@Nullable Recreated> lost = new AtomicReference<>();

    public BashTool(Sandbox box) {
        this.box = box;
        box.onRecreated(lost::set);
    }

    public String run(String command) {
        return run(command, TIMEOUT);
    }

    /// Runs the command and describes its result.
    public String run(String command, Duration timeout) {
        try {
            ExecResult result = box.execute(command, timeout);
            return loss() + ending(result.exit(), timeout) + "\n" + section("stdout", result.stdout())
                    + section("stderr", result.stderr());
        } catch (SandboxException e) {
            return loss() + "The command gave no result: " + e.failure().sentence() + "\n";
        }
    }

    /// Reports a lost sandbox. Without this note, a model searches for its files for many turns.
    private String loss() {
        Recreated recreated = lost.getAndSet(null);
        return recreated == null
                ? ""
                : "Note: the sandbox had expired and this is a new one. Files from earlier commands are gone.\n";
    }

    private static String ending(Exit exit, Duration timeout) {
        return switch (exit.cause()) {
            case EXITED -> "exit code " + exit.exitCode();
            case TIMEOUT ->
                "Stopped after " + timeout.toSeconds() + " s, which was its limit. Raise timeout_seconds, or run it as "
                        + "`nohup COMMAND > log.txt 2>&1 &` and look into log.txt later.";
            case IDLE_TIMEOUT -> "Stopped because it wrote nothing for too long.";
            case OOM -> "Killed: the sandbox was out of memory. Work on smaller pieces.";
            case SIGNALLED -> "Killed by signal " + exit.code() + ".";
            case CANCELLED -> "Cancelled.";
            case DETACHED -> "It runs on in the background.";
        };
    }

    private static String section(String name, String text) {
        return text.isEmpty() ? "" : "<" + name + ">\n" + cut(text) + "\n</" + name + ">\n";
    }

    /// Omits the middle. The beginning shows what the command did, and the end shows how it failed.
    static String cut(String text) {
        String whole = text.stripTrailing();
        if (whole.length() <= SHOWN) {
            return whole;
        }
        int head = SHOWN / 2;
        head -= Character.isHighSurrogate(whole.charAt(head - 1)) ? 1 : 0;
        int tail = whole.length() - SHOWN / 2;
        tail += Character.isLowSurrogate(whole.charAt(tail)) ? 1 : 0;
        return whole.substring(0, head) + "\n[... " + (tail - head)
                + " characters left out; write to a file and use head, tail or grep ...]\n" + whole.substring(tail);
    }
}
