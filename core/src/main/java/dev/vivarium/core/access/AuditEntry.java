package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/// One operation on a sandbox or a token, permitted or refused. Never contains a token. Immutable.
///
/// `route` is the template of the route, never the path. `outcome` is the response status.
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
    public enum Kind implements TextEnum {
        /// The server issued a token.
        ISSUED,
        /// A client used a sandbox, with a token or a key.
        USED,
        /// A client sent input or a signal to a shell.
        TYPED,
        /// The server refused a request.
        REFUSED,
        /// A token was revoked.
        REVOKED,
        /// All tokens of a sandbox were revoked.
        ROTATED,
        INVITED,
        UNINVITED,
        /// A client ended the sandbox.
        ENDED,
        /// The server froze the sandbox, because its disk grew while disk space was low.
        FROZEN,
        /// The egress allow-list of the sandbox was changed.
        ALLOWED,
        /// A user started or ended a browser session with a key.
        SIGNED_IN,
        SIGNED_OUT,
        /// A program in the sandbox made an outgoing connection, or the server refused it.
        EGRESS;

        static Kind of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }

        public static Optional<Kind> find(String text) {
            return TextEnum.find(values(), text);
        }
    }

    /// Returns an entry without a principal, a sandbox or a token.
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

    /// Sets the principal, and its token if it has one.
    public AuditEntry by(Principal principal) {
        Optional<String> token = switch (principal) {
            case Principal.Holder(var grant) -> Optional.of(grant.jti());
            case Principal.Worker(var grant) -> Optional.of(grant.fingerprint());
            case Principal.Admin _, Principal.User _ -> Optional.empty();
        };
        return new AuditEntry(
                at, kind, outcome, route, Optional.of(principal.name()), sandbox, thread, token, scopes, detail);
    }

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
