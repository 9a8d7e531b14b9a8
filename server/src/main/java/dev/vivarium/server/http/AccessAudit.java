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

/// Tells the audit who used which sandbox and who was refused. Speaks of routes by their templates, so that nothing a
/// caller sent can be in it. Thread-safe.
public final class AccessAudit {
    private final Audit audit;
    private final InstantSource clock;

    public AccessAudit(Audit audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    /// When the request came, for [#saw].
    Instant now() {
        return clock.instant();
    }

    /// Somebody was let in to a route of one sandbox or thread, and this was the answer.
    void saw(Router.Match match, Caller caller, Instant at, int status) {
        if (caller.principal().filter(Principal.Worker.class::isInstance).isPresent()) {
            // All that a worker does is in the log of its sandbox, and would push out what people did.
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

    /// Somebody was not let in, or was told that what they asked for is not theirs.
    /// `from` is the sandbox that the request came out of, if it did.
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

    /// With a token, also what it is for, unless that is somewhere else.
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
            // It is no name of a thread; then the entry is about none.
            return entry;
        }
    }

    private static String name(Route route) {
        return route.method() + " " + route.template();
    }
}
