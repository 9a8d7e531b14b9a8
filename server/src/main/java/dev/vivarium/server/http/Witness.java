package dev.vivarium.server.http;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/// Tells the audit who used which sandbox and who was refused. Speaks of routes by their templates, so that nothing a
/// caller sent can be in it. Thread-safe.
public final class Witness {
    private final Audit audit;
    private final InstantSource clock;

    public Witness(Audit audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    /// When the request came, for [#saw].
    Instant now() {
        return clock.instant();
    }

    /// Somebody was let in to a route of one sandbox, and this was the answer.
    void saw(Router.Match match, Caller caller, Instant at, int status) {
        if (caller.sandbox().isEmpty()) {
            return;
        }
        var info = caller.sandbox().get().info();
        var entry = AuditEntry.of(at, AuditEntry.Kind.USED, status, name(match.route()))
                .on(info.id(), info.thread())
                .scopes(caller.scopes());
        audit.record(caller.principal().map(entry::by).orElse(entry));
    }

    /// Somebody was not let in, or was told that what they asked for is not theirs.
    void refused(Router.Match match, Optional<Caller> caller, Failure failure) {
        int status = ProblemJson.status(failure);
        boolean isRefusal = status == 401 || status == 403 || status == 404;
        if (!isRefusal || !(match.raw().containsKey("sandbox_id") || match.raw().containsKey("thread_id"))) {
            return;
        }
        var entry = AuditEntry.of(clock.instant(), AuditEntry.Kind.REFUSED, status, name(match.route()))
                .detail(failure.slug());
        var named = caller.flatMap(Caller::principal).map(entry::by).orElse(entry);
        audit.record(about(match, named));
    }

    private static AuditEntry about(Router.Match match, AuditEntry entry) {
        String sandbox = match.parameters().getOrDefault("sandbox_id", "");
        if (SandboxId.isWellFormed(sandbox)) {
            return entry.onSandbox(new SandboxId(sandbox));
        }
        try {
            return entry.onThread(new ThreadId(match.parameters().getOrDefault("thread_id", "")));
        } catch (SandboxException e) {
            // It is no name of a thread; then the entry is about none.
            return entry;
        }
    }

    private static String name(Route route) {
        return route.method() + " " + route.template();
    }
}
