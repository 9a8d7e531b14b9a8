package dev.vivarium.server.telemetry;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.egress.EgressRecord;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Audit of the outgoing connections of sandboxes. Thread-safe.
///
/// A limit per sandbox and minute prevents one sandbox from displacing all other audit entries. The next entry states
/// how many connections were omitted.
public final class EgressAudit {
    private static final int MAX_PER_MINUTE = 300;
    private static final int SECONDS = 60;

    private final Audit audit;
    private final InstantSource clock;
    private final Map<SandboxId, Minute> minutes = new ConcurrentHashMap<>();

    public EgressAudit(Audit audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    /// Counts of one minute. `omittedBefore` counts the connections of the minute before that have no audit entry.
    private record Minute(long number, int recorded, int omitted, int omittedBefore) {
        Minute next(long now) {
            if (number != now) {
                return new Minute(now, 1, 0, omitted);
            }
            return recorded < MAX_PER_MINUTE
                    ? new Minute(number, recorded + 1, 0, 0)
                    : new Minute(number, recorded, omitted + 1, 0);
        }
    }

    void record(SandboxInfo sandbox, EgressRecord egressRecord) {
        Instant now = clock.instant();
        long minute = now.getEpochSecond() / SECONDS;
        Minute present = minutes.merge(sandbox.id(), new Minute(minute, 1, 0, 0), (known, _) -> known.next(minute));
        if (present.omitted() == 0) {
            audit.record(
                    AuditEntry.of(now, AuditEntry.Kind.EGRESS, egressRecord.status(), "egress " + egressRecord.method())
                            .byProgramOf(sandbox.id())
                            .on(sandbox.id(), sandbox.key())
                            .detail(detail(egressRecord, present.omittedBefore())));
        }
    }

    void forget(SandboxId id) {
        minutes.remove(id);
    }

    private static String detail(EgressRecord egressRecord, int omittedBefore) {
        return (omittedBefore == 0 ? "" : "(after " + omittedBefore + " connections that are only in the server log) ")
                + egressRecord.verdict().text() + " "
                + egressRecord.host() + ":" + egressRecord.port()
                + (egressRecord.address().isEmpty() ? "" : " at " + egressRecord.address())
                + ", " + egressRecord.up() + " bytes up, " + egressRecord.down() + " down, "
                + egressRecord.took().toMillis() + " ms";
    }
}
