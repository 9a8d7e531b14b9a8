package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.Judgement;
import java.util.Optional;

/// Model that judges trajectories. Implementations are thread-safe.
@FunctionalInterface
public interface Judge {
    /// Judge of a server without a model.
    Judge NONE = _ -> Optional.empty();

    /// Returns the judgement. Returns nothing if the model has none, its answer is invalid, it is late, or its
    /// budget is spent.
    Optional<Judgement> judge(TrajectoryDigest trajectory);
}
