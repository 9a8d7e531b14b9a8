package dev.vivarium.server.settings;

import dev.vivarium.core.files.Upload;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.policy.CommandPolicy;
import java.time.Duration;
import java.util.List;

/// Limits of one call: command timeout, command policy and file sizes. Immutable.
public record CallConfig(
        Duration maxCommandTimeout, CommandPolicy policy, Upload.Limits uploads, boolean wakeOnTraffic) {
    static CallConfig of(Settings settings) {
        return new CallConfig(
                settings.get(Catalogue.MAX_COMMAND_TIMEOUT),
                policy(settings),
                new Upload.Limits(
                        settings.get(Catalogue.MAX_FILE_SIZE),
                        settings.get(Catalogue.MAX_FILES),
                        settings.get(Catalogue.MAX_WORKSPACE)),
                settings.get(Catalogue.WAKE_ON_TRAFFIC));
    }

    private static CommandPolicy policy(Settings settings) {
        var policy = CommandPolicy.of(settings.get(Catalogue.COMMAND_POLICY));
        try {
            // An explicit empty list allows no command.
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
