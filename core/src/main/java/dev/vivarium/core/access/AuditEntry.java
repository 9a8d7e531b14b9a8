package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// One thing that somebody did, or was refused, with a sandbox or a token. Never holds a token. Immutable.
///
/// `route` is the template of the route, never the path; `outcome` is the status that was answered.
public record AuditEntry(
        Instant at,
        Kind kind,
        int outcome,
        String route,
        Optional<UserId> user,
        Optional<SandboxId> sandbox,
        Optional<ThreadId> thread,
        Optional<String> jti,
        Optional<Scopes> scopes,
        String detail) {
    /// What happened.
    public enum Kind {
        /// A token was given out.
        ISSUED,
        /// Somebody used a sandbox, by token or by key.
        USED,
        /// Somebody typed in a shell, or sent it a signal.
        TYPED,
        /// Somebody was refused.
        REFUSED,
        /// A token was ended.
        REVOKED,
        /// All tokens of a sandbox were ended.
        ROTATED,
        INVITED,
        UNINVITED,
        /// The sandbox was ended by request.
        ENDED,
        /// The server froze the sandbox, because its disk grew while disk space was low.
        FROZEN,
        /// What the sandbox may reach was changed.
        ALLOWED,
        /// Somebody let a browser in by showing a key, or ended that.
        SIGNED_IN,
        SIGNED_OUT,
        /// A program in the sandbox made a connection outwards, or was refused one.
        EGRESS;

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Kind of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }

        /// The kind of that name, if there is one.
        public static Optional<Kind> find(String text) {
            return Arrays.stream(values())
                    .filter(kind -> kind.text().equals(text))
                    .findFirst();
        }
    }

    /// What a principal did, without a sandbox or a token yet.
    public static AuditEntry of(Instant at, Kind kind, int outcome, String route) {
        return new AuditEntry(
                at,
                kind,
                outcome,
                route,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                "");
    }

    /// By whom; of a token's holder, also which token.
    public AuditEntry by(Principal principal) {
        Optional<String> token = switch (principal) {
            case Principal.Holder(var grant) -> Optional.of(grant.jti());
            case Principal.Worker(var grant) -> Optional.of(grant.fingerprint());
            case Principal.Admin _, Principal.User _ -> Optional.empty();
        };
        return new AuditEntry(
                at, kind, outcome, route, Optional.of(principal.name()), sandbox, thread, token, scopes, detail);
    }

    /// To which sandbox.
    public AuditEntry on(SandboxId id, ThreadId ofThread) {
        return new AuditEntry(
                at, kind, outcome, route, user, Optional.of(id), Optional.of(ofThread), jti, scopes, detail);
    }

    public AuditEntry onSandbox(SandboxId id) {
        return new AuditEntry(at, kind, outcome, route, user, Optional.of(id), thread, jti, scopes, detail);
    }

    public AuditEntry onThread(ThreadId id) {
        return new AuditEntry(at, kind, outcome, route, user, sandbox, Optional.of(id), jti, scopes, detail);
    }

    /// With which token, and what it allows.
    public AuditEntry token(String id, Scopes allowed) {
        return new AuditEntry(
                at, kind, outcome, route, user, sandbox, thread, Optional.of(id), Optional.of(allowed), detail);
    }

    public AuditEntry scopes(Scopes allowed) {
        return new AuditEntry(at, kind, outcome, route, user, sandbox, thread, jti, Optional.of(allowed), detail);
    }

    public AuditEntry detail(String text) {
        return new AuditEntry(at, kind, outcome, route, user, sandbox, thread, jti, scopes, text);
    }
}
