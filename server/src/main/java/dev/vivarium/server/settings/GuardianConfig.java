package dev.vivarium.server.settings;

import dev.vivarium.core.guard.trajectory.GuardianLimits;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;

/// Settings of the guardian, its judge and the conductor. Immutable.
///
/// @param conductorInterval time between two passes of the conductor
public record GuardianConfig(GuardianLimits limits, Judge judge, Duration conductorInterval) {
    /// Model that judges trajectories. Immutable.
    ///
    /// @param model     name of the model; none if no model judges
    /// @param timeout   limit of one judgement
    /// @param budgetUsd limit of all judgements of a day
    public record Judge(Optional<String> model, Duration timeout, BigDecimal budgetUsd) {}

    static GuardianConfig of(Settings settings) {
        return new GuardianConfig(
                new GuardianLimits(
                        settings.get(Catalogue.GUARDIAN),
                        settings.get(Catalogue.GUARDIAN_INTERVAL),
                        settings.get(Catalogue.GUARDIAN_COOLDOWN),
                        settings.get(Catalogue.GUARDIAN_NUDGES),
                        settings.get(Catalogue.GUARDIAN_ANSWER)),
                new Judge(
                        settings.get(Catalogue.GUARDIAN_MODEL),
                        settings.get(Catalogue.GUARDIAN_MODEL_TIMEOUT),
                        BigDecimal.valueOf(settings.get(Catalogue.GUARDIAN_MODEL_BUDGET))),
                settings.get(Catalogue.CONDUCTOR_INTERVAL));
    }
}
