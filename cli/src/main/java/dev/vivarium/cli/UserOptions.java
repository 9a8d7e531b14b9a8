package dev.vivarium.cli;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// On whose behalf a thread's sandbox is made. A user's key can only be used for that user.
final class UserOptions {
    @Option(
            names = "--user",
            paramLabel = "USER",
            description = "Whose thread it is, if it is new (VIV_USER; else the name you are logged in with).")
    private @Nullable String user;

    String user(Map<String, String> env) {
        return user != null ? user : env.getOrDefault("VIV_USER", System.getProperty("user.name"));
    }
}
