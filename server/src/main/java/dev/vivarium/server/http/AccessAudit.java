package dev.vivarium.server.http;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/// Audit of the use of sandboxes and of refused requests. Thread-safe.
///
/// Entries name routes by their templates, so they contain no text from the caller.
public final class AccessAudit {
    private final Audit audit;
    private final InstantSource clock;

    public AccessAudit(Audit audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    /// Returns the time of the request, for [#saw].
    Instant now() {
        return clock.instant();
    }

    /// Records the response to an authorized request on a route of a sandbox or thread.
    void saw(Router.Match match, Caller caller, Instant at, int status) {
        if (caller.principal().filter(Principal.Worker.class::isInstance).isPresent()) {
            // The log of the sandbox contains all calls of its worker. In the audit, they would displace the actions of
            // users.
            return;
        }
        var entry = AuditEntry.of(at, AuditEntry.Kind.USED, status, name(match.route()));
        if (caller.sandbox().isPresent()) {
            var info = caller.sandbox().get().info();
            var scoped = entry.on(info.id(), info.thread()).scopes(caller.scopes());
            audit.record(caller.principal().map(scoped::by).orElse(scoped));
        } else if (match.route().access() instanceof Route.Access.Token(boolean recorded)) {
            caller.principal()
                    .filter(who -> !recorded || who instanceof Principal.Holder)
                    .ifPresent(who -> audit.record(named(about(match, entry), who)));
        }
    }

    /// Records a refused request. `from` is the sandbox of the connection, if the request came from inside a
    /// sandbox.
    void refused(Router.Match match, Optional<Principal> who, Optional<SandboxId> from, Failure failure) {
        boolean isAboutOne =
                match.raw().containsKey("sandbox_id") || match.raw().containsKey("thread_id");
        boolean isAttack = failure instanceof AccessFailure.WrongOrigin;
        if (!isAboutOne && !isAttack && from.isEmpty()) {
            return;
        }
        var entry = AuditEntry.of(
                        clock.instant(), AuditEntry.Kind.REFUSED, ProblemJson.status(failure), name(match.route()))
                .detail(failure.slug());
        var about = from.map(entry::onSandbox).orElseGet(() -> about(match, entry));
        audit.record(who.map(known -> named(about, known)).orElse(about));
    }

    static boolean isRefusal(int status) {
        return status == 401 || status == 403 || status == 404;
    }

    /// Adds the principal. For a token, it also adds the scopes. It adds the token's sandbox and thread, unless the
    /// entry already names a sandbox or another thread.
    private static AuditEntry named(AuditEntry entry, Principal who) {
        var named = entry.by(who);
        if (!(who instanceof Principal.Holder(Grant grant))) {
            return named;
        }
        var scoped = named.scopes(grant.scopes());
        boolean isElsewhere = named.sandbox().isPresent()
                || named.thread()
                        .filter(thread -> !thread.equals(grant.thread()))
                        .isPresent();
        return isElsewhere ? scoped : scoped.on(grant.sandbox(), grant.thread());
    }

    private static AuditEntry about(Router.Match match, AuditEntry entry) {
        String sandbox = match.parameters().getOrDefault("sandbox_id", "");
        if (SandboxId.isWellFormed(sandbox)) {
            return entry.onSandbox(new SandboxId(sandbox));
        }
        try {
            return entry.onThread(new ThreadId(match.parameters().getOrDefault("thread_id", "")));
        } catch (SandboxException e) {
            // The value is not a valid thread id, so the entry has no thread.
            return entry;
        }
    }

    private static String name(Route route) {
        return route.method() + " " + route.template();
    }
}
