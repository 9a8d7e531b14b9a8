package dev.vivarium.core.sandbox;

import dev.vivarium.core.egress.SandboxEgress;
import dev.vivarium.model.Command;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/// What commands find in their environment: what an ordinary program expects, under the way out, under the sandbox's
/// own, under the command's. Thread-safe.
public final class Environment {
    /// The character set is named alone: `LANG` would have every program read a dozen files of a locale that says
    /// nothing else, which takes a shell a fifth of its start.
    private static final Map<String, String> ORDINARY = Map.of(
            "USER", "sandboxuser",
            "LOGNAME", "sandboxuser",
            "SHELL", "/bin/bash",
            "LC_CTYPE", "C.UTF-8");

    private final SandboxEgress sandboxEgress;
    private final Map<String, String> own;

    Environment(SandboxEgress sandboxEgress, Map<String, String> own) {
        this.sandboxEgress = sandboxEgress;
        this.own = own;
    }

    /// The names of the variables that a sandbox was created with.
    public static Set<String> namesOf(Sandbox sandbox) {
        return sandbox.row().env().keySet();
    }

    /// For a program that has no terminal.
    Command plain(Command command, String home) {
        return of(command, home, Map.of("TERM", "dumb"));
    }

    /// For one that has; its command says which.
    Command onTerminal(Command command, String home) {
        return of(command, home, Map.of());
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
