package dev.vivarium.core.guard.anomaly;

import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Principal;
import dev.vivarium.model.UserId;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Counts of the current minute by user, from the audit log and from new sandboxes. Thread-safe.
final class UserActivity {
    /// Figures of a user. A minute in which the user did something counts for all of them.
    static final Set<Metric> METRICS = Set.of(
            Metric.CREATIONS_PER_MINUTE,
            Metric.LIMIT_VIOLATIONS_PER_MINUTE,
            Metric.VALIDATION_FAILURES_PER_MINUTE,
            Metric.REFUSED_EGRESS_PER_MINUTE,
            Metric.REFUSED_TOKENS_PER_MINUTE);

    private static final int MAX_USERS = 10_000;
    private static final Set<Integer> LIMITS = Set.of(413, 429, 503, 507);
    private static final Set<Integer> INVALID = Set.of(400, 422);
    private static final Set<Integer> REFUSED = Set.of(401, 403);

    private final Map<UserId, Map<Metric, Integer>> counts = new ConcurrentHashMap<>();

    void created(UserId user) {
        count(user, Optional.of(Metric.CREATIONS_PER_MINUTE));
    }

    void record(AuditEntry entry) {
        count(user(entry), metric(entry));
    }

    /// Returns the owner of the sandbox for programs inside it, and the admin for callers without a name.
    private static UserId user(AuditEntry entry) {
        Optional<UserId> person = entry.user().filter(name -> !isProgram(name.value()));
        return person.or(entry::owner).orElse(Principal.Admin.NAME);
    }

    private static boolean isProgram(String name) {
        return name.startsWith("worker:") || name.startsWith("sandbox:") || name.startsWith("system:");
    }

    private static Optional<Metric> metric(AuditEntry entry) {
        if (entry.kind() == AuditEntry.Kind.EGRESS) {
            return entry.outcome() >= 400 ? Optional.of(Metric.REFUSED_EGRESS_PER_MINUTE) : Optional.empty();
        }
        if (REFUSED.contains(entry.outcome())) {
            return Optional.of(Metric.REFUSED_TOKENS_PER_MINUTE);
        }
        if (LIMITS.contains(entry.outcome())) {
            return Optional.of(Metric.LIMIT_VIOLATIONS_PER_MINUTE);
        }
        return INVALID.contains(entry.outcome())
                ? Optional.of(Metric.VALIDATION_FAILURES_PER_MINUTE)
                : Optional.empty();
    }

    private void count(UserId user, Optional<Metric> metric) {
        if (counts.size() >= MAX_USERS && !counts.containsKey(user)) {
            return;
        }
        counts.compute(user, (_, known) -> {
            Map<Metric, Integer> mine = known == null ? new EnumMap<>(Metric.class) : known;
            metric.ifPresent(one -> mine.merge(one, 1, Integer::sum));
            return mine;
        });
    }

    /// Returns the counts since the last call, and starts to count anew.
    Map<UserId, Map<Metric, Integer>> take() {
        var taken = new HashMap<UserId, Map<Metric, Integer>>();
        for (UserId user : counts.keySet()) {
            Map<Metric, Integer> mine = counts.remove(user);
            if (mine != null) {
                taken.put(user, mine);
            }
        }
        return taken;
    }
}
