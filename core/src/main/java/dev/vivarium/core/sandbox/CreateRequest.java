package dev.vivarium.core.sandbox;

import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SnapshotId;
import java.util.Optional;

/// Request for a sandbox: empty, or with the files of a snapshot. Immutable.
record CreateRequest(NewSandbox request, Optional<SnapshotId> from) {
    static CreateRequest empty(NewSandbox request) {
        return new CreateRequest(request, Optional.empty());
    }
}
