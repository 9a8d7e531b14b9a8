package dev.vivarium.server.telemetry;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.model.Review;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadKey;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/// Audit of the reviews on whose deadline the server acted. Thread-safe.
public final class ReviewAudit implements Consumer<Review> {
    private static final int OK = 200;

    private final Audit audit;
    private final Function<SandboxId, Optional<ThreadKey>> owners;
    private final InstantSource clock;

    public ReviewAudit(Audit audit, Function<SandboxId, Optional<ThreadKey>> owners, InstantSource clock) {
        this.audit = audit;
        this.owners = owners;
        this.clock = clock;
    }

    @Override
    public void accept(Review review) {
        var entry = AuditEntry.of(clock.instant(), AuditEntry.Kind.USED, OK, "deadline of a review")
                .bySystem("reviews")
                .detail(review.onTimeout().text() + " " + review.id());
        audit.record(owners.apply(review.sandbox())
                .map(key -> entry.on(review.sandbox(), key))
                .orElseGet(() -> entry.onSandbox(review.sandbox())));
    }
}
