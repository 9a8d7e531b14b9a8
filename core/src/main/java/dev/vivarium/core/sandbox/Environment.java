package dev.vivarium.core.sandbox;

import dev.vivarium.core.egress.SandboxEgress;
import dev.vivarium.model.Command;
import dev.vivarium.model.ThreadId;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/// Environment variables of commands. In order of precedence: those of the command, of the sandbox, of the egress
/// proxy, and the defaults. Thread-safe.
public final class Environment {
    /// Only the character set is set. With `LANG`, every program reads a dozen locale files, which takes a fifth of
    /// the start time of a shell.
    private static final Map<String, String> ORDINARY = Map.of(
            "USER", "sandboxuser",
            "LOGNAME", "sandboxuser",
            "SHELL", "/bin/bash",
            "LC_CTYPE", "C.UTF-8");

    /// Variable that the prompt of Debian and of the image `host` shows.
    private static final String PROMPT = "debian_chroot";

    private static final int LONGEST_PROMPT = 40;

    private final SandboxEgress sandboxEgress;
    private final Map<String, String> own;
    private final String prompt;

    Environment(SandboxEgress sandboxEgress, Map<String, String> own, ThreadId thread) {
        this.sandboxEgress = sandboxEgress;
        this.own = own;
        String name = thread.value().replaceAll("[^A-Za-z0-9._@+-]", "?");
        this.prompt = name.substring(0, Math.min(name.length(), LONGEST_PROMPT));
    }

    /// Names of the variables that a sandbox was created with.
    public static Set<String> namesOf(Sandbox sandbox) {
        return sandbox.row().env().keySet();
    }

    /// Environment of a command without a terminal.
    Command plain(Command command, String home) {
        return of(command, home, Map.of("TERM", "dumb"));
    }

    /// Environment of a command on a terminal, whose prompt shows the thread. The command sets the terminal type.
    Command onTerminal(Command command, String home) {
        return of(command, home, Map.of(PROMPT, prompt));
    }

    private Command of(Command command, String home, Map<String, String> ofItsKind) {
        Map<String, String> env = new HashMap<>(ORDINARY);
        env.put("HOME", home);
        env.putAll(ofItsKind);
        env.putAll(sandboxEgress.env());
        env.putAll(own);
        env.putAll(command.env());
        return command.withEnv(env);
    }
}
