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
import java.util.function.UnaryOperator;

/// Audit of all requests of authenticated callers and of refused requests. Thread-safe.
///
/// Entries name routes by their templates, so they contain no text from the caller.
public final class AccessAudit {
    private final Audit audit;
    private final InstantSource clock;

    public AccessAudit(Audit audit, InstantSource clock) {
        this.audit = audit;
        this.clock = clock;
    }

    /// Records the response to an authenticated request. If the handler wrote an entry, only the use of a token is
    /// recorded in addition.
    void recordResponse(Router.Match match, Caller caller, Subject subject, int status) {
        Route route = match.route();
        var who = caller.principal();
        if (who.isEmpty() || subject.isAudited && status < 400 && !(who.get() instanceof Principal.Holder)) {
            return;
        }
        var kind = status == 401 || status == 403 ? AuditEntry.Kind.REFUSED : AuditEntry.Kind.USED;
        var entry = AuditEntry.of(subject.at, kind, status, route.description().route());
        if (caller.sandbox().isPresent()) {
            var info = caller.sandbox().get().info();
            var scoped = entry.on(info.id(), info.key()).by(who.get());
            audit.record(who.get() instanceof Principal.Worker ? scoped : scoped.scopes(caller.scopes()));
        } else {
            audit.record(named(subject.of(match, entry), who.get()));
        }
    }

    /// Records a refused request. `from` is the sandbox of the connection, if the request came from inside a
    /// sandbox.
    void recordRefusal(
            Router.Match match, Optional<Principal> who, Optional<SandboxId> from, Subject subject, Failure failure) {
        boolean isOurs = match.route().description().needsCredential();
        boolean isAboutOne = match.raw().containsKey("sandbox_id") || from.isPresent();
        if (!isOurs && !isAboutOne && !(failure instanceof AccessFailure.WrongOrigin)) {
            // The handler of a sign-in writes the audit entry itself.
            return;
        }
        var entry = AuditEntry.of(
                        clock.instant(),
                        AuditEntry.Kind.REFUSED,
                        ProblemJson.status(failure),
                        match.route().description().route())
                .detail(failure.slug());
        var about = from.map(entry::onSandbox).orElseGet(() -> subject.of(match, entry));
        audit.record(who.map(known -> named(about, known)).orElse(about));
    }

    /// Time of a request and the sandbox or thread that its handler found outside the path. Confined to one thread.
    static final class Subject {
        private final Instant at;
        private boolean isAudited;
        private UnaryOperator<AuditEntry> found = entry -> entry;

        Subject(Instant at) {
            this.at = at;
        }

        /// Adds the sandbox or thread that the handler found.
        void addTarget(UnaryOperator<AuditEntry> target) {
            var earlier = found;
            found = entry -> target.apply(earlier.apply(entry));
        }

        /// The handler has written the entry of a successful request.
        void markAudited() {
            isAudited = true;
        }

        private AuditEntry of(Router.Match match, AuditEntry entry) {
            return found.apply(about(match, entry));
        }
    }

    Subject subject() {
        return new Subject(clock.instant());
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
        return isElsewhere ? scoped : scoped.on(grant.sandbox(), grant.key());
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
}
