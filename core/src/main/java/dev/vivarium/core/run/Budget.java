package dev.vivarium.core.run;

import java.math.BigDecimal;
import java.util.Optional;

/// Budget of a run and its cost so far. Immutable.
///
/// @param budgetUsd empty if the run has no limit
public record Budget(Optional<BigDecimal> budgetUsd, BigDecimal spentUsd) {
    public boolean isSpent() {
        return budgetUsd.filter(budget -> spentUsd.compareTo(budget) >= 0).isPresent();
    }
}
