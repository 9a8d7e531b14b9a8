package dev.vivarium.server.preview;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Principal;
import dev.vivarium.server.http.Caller;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;

/// Audit of the use of previews. Thread-safe.
///
/// It writes one entry per port and per token, or per user with a key, and repeats it after one hour. A page makes many
/// requests, and the audit is not an access log.
public final class PreviewAudit {
    private static final Duration REPEAT_AFTER = Duration.ofHours(1);

    private static final String ROUTE = "ANY /sandboxes/{sandbox_id}/ports/{port}/{rest…}";
    /// Maximum number of remembered uses. An evicted use is recorded again.
    private static final int MAX_USES = 10_000;

    private final Audit audit;
    private final InstantSource clock;
    /// Start of each use, in the order of the last audit entry. Guarded by itself.
    private final Map<Use, Instant> begun = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Use, Instant> eldest) {
            return size() > MAX_USES;
        }
    };

    public PreviewAudit(Audit audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    private record Use(String sandbox, int port, String who) {}

    /// Records that the server authenticated `caller` for `address`.
    void record(Caller caller, PreviewAddress address) {
        Principal principal = caller.principal().orElseThrow();
        String who = principal instanceof Principal.Holder(var grant)
                ? grant.jti()
                : "key of " + principal.name().value();
        Instant now = clock.instant();
        if (begins(new Use(address.sandbox(), address.port(), who), now)) {
            var info = caller.sandbox().orElseThrow().info();
            audit.record(AuditEntry.of(now, AuditEntry.Kind.USED, 200, ROUTE)
                    .by(principal)
                    .on(info.id(), info.key())
                    .scopes(caller.scopes())
                    .detail("port " + address.port()));
        }
    }

    private boolean begins(Use use, Instant now) {
        synchronized (begun) {
            Instant since = begun.get(use);
            if (since != null && now.isBefore(since.plus(REPEAT_AFTER))) {
                return false;
            }
            begun.remove(use);
            begun.put(use, now);
            return true;
        }
    }
}
