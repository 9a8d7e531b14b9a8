package dev.vivarium.cli;

import java.nio.file.Path;
import java.util.Map;

/// Directories of `viv` by the XDG rules. Stateless.
final class Directories {
    private Directories() {}

    /// Configuration, which users edit.
    static Path config(Map<String, String> env) {
        return of(env, "XDG_CONFIG_HOME", ".config");
    }

    /// State that `viv` can recreate.
    static Path state(Map<String, String> env) {
        return of(env, "XDG_STATE_HOME", ".local/state");
    }

    private static Path of(Map<String, String> env, String variable, String fallback) {
        String given = env.get(variable);
        Path base =
                given != null && !given.isEmpty() ? Path.of(given) : home(env).resolve(fallback);
        return base.resolve("viv");
    }

    /// Home of the user.
    static Path home(Map<String, String> env) {
        String given = env.get("HOME");
        return Path.of(given != null && !given.isEmpty() ? given : System.getProperty("user.home"));
    }
}
