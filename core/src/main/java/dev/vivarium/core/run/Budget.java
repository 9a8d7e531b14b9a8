package dev.vivarium.core.run;

import java.math.BigDecimal;
import java.util.Optional;

/// What a run may cost, and has cost so far. Immutable.
///
/// @param budgetUsd nothing if nobody set a bound
public record Budget(Optional<BigDecimal> budgetUsd, BigDecimal spentUsd) {
    /// Reports whether the run may cost nothing more.
    public boolean isSpent() {
        return budgetUsd.filter(budget -> spentUsd.compareTo(budget) >= 0).isPresent();
    }
}
