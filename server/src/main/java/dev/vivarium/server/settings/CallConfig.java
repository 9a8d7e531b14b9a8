package dev.vivarium.server.settings;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.policy.CommandPolicy;
import java.time.Duration;
import java.util.List;

/// What one call may do: how long a command may run, which commands, how large files may be. Immutable.
public record CallConfig(
        Duration maxCommandTimeout,
        CommandPolicy policy,
        long maxFileBytes,
        long maxFiles,
        long maxWorkspaceBytes,
        boolean wakeOnTraffic) {
    static CallConfig of(Settings settings) {
        return new CallConfig(
                settings.get(Catalogue.MAX_COMMAND_TIMEOUT),
                policy(settings),
                settings.get(Catalogue.MAX_FILE_SIZE),
                settings.get(Catalogue.MAX_FILES),
                settings.get(Catalogue.MAX_WORKSPACE),
                settings.get(Catalogue.WAKE_ON_TRAFFIC));
    }

    private static CommandPolicy policy(Settings settings) {
        var policy = CommandPolicy.of(settings.get(Catalogue.COMMAND_POLICY));
        try {
            // A list that was given and is empty allows nothing.
            var listed = settings.isChosen(Catalogue.ALLOWED_COMMANDS)
                    ? policy.withAllowedCommands(
                            settings.get(Catalogue.ALLOWED_COMMANDS).orElse(List.of()))
                    : policy;
            var denied = settings.get(Catalogue.DENIED_PATTERNS);
            return denied.isPresent() ? listed.withDeniedPatterns(denied.get()) : listed;
        } catch (IllegalArgumentException e) {
            throw new SandboxException(
                    new Failure.InvalidRequest("command-policy", "cannot be used: " + e.getMessage()), e);
        }
    }
}
