package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.model.LivenessEvent;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Run;
import java.time.InstantSource;
import java.util.Optional;

/// Records of the supervision in the log of the sandbox and in the audit log. Thread-safe.
record LivenessLog(EventLog log, Audit audit, InstantSource clock) {
    /// Principal of the supervision in the audit log.
    private static final String NAME = "liveness";

    private static final int DONE = 200;

    /// Appends an event that happens once for a run.
    void append(Run run, LivenessEvent event) {
        append(run, event, "");
    }

    /// Appends an event that can repeat. An event with the same occasion is appended once.
    void append(Run run, LivenessEvent event, String occasion) {
        String id = NewEvent.OUR_IDS + run.id() + "." + event.type() + occasion;
        log.append(run.sandbox(), new NewEvent(Optional.of(id), event, NewEvent.OURS));
    }

    /// Records that the supervision ended or froze the sandbox of a run.
    void audit(Run run, String detail) {
        audit.record(
                AuditEntry.of(clock.instant(), AuditEntry.Kind.ENDED, DONE, "DELETE /api/v1/sandboxes/{sandbox_id}")
                        .bySystem(NAME)
                        .on(run.sandbox(), run.key())
                        .detail(detail));
    }
}
