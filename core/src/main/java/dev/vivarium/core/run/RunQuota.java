package dev.vivarium.core.run;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure.QuotaExceeded;
import dev.vivarium.model.UserId;
import java.util.HashMap;
import java.util.Map;

/// Limit of the active runs of each user. Zero means no limit. Thread-safe.
final class RunQuota {
    private final Runs runs;
    private final int limit;

    /// Runs that are about to start and have no row yet.
    @GuardedBy("this")
    private final Map<UserId, Integer> starting = new HashMap<>();

    RunQuota(Runs runs, int limit) {
        this.runs = runs;
        this.limit = limit;
    }

    /// Counts a run that is about to start. Close the result when its row is written or it has failed. Fails with
    /// `QuotaExceeded` if the user has too many.
    Start begin(UserId user) {
        var start = new Start(user);
        try {
            require(user, start.number);
            return start;
        } catch (RuntimeException e) {
            start.close();
            throw e;
        }
    }

    private void require(UserId user, int now) {
        int active = limit == 0 ? 0 : runs.activeByUser().getOrDefault(user, 0);
        if (limit > 0 && active + now > limit) {
            throw new SandboxException(new QuotaExceeded(
                    "runs",
                    limit,
                    "%s has %d active runs, the maximum of one user; wait for the end of one, or ask the admin for a"
                                    .formatted(user, active)
                            + " higher quota"));
        }
    }

    /// A run that is about to start.
    final class Start implements AutoCloseable {
        private final UserId user;
        private final int number;

        private Start(UserId user) {
            this.user = user;
            synchronized (RunQuota.this) {
                this.number = starting.merge(user, 1, Integer::sum);
            }
        }

        @Override
        public void close() {
            synchronized (RunQuota.this) {
                starting.computeIfPresent(user, (_, count) -> count == 1 ? null : Integer.valueOf(count - 1));
            }
        }
    }
}
