package dev.vivarium.core.sandbox;

import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SnapshotId;
import java.util.Optional;

/// A sandbox that somebody wants: empty, or with the files of a snapshot. Immutable.
record Order(NewSandbox request, Optional<SnapshotId> from) {
    static Order empty(NewSandbox request) {
        return new Order(request, Optional.empty());
    }
}
