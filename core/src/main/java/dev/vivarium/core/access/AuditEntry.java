package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.Optional;

/// One operation on a sandbox or a token, permitted or refused. Never contains a token. Immutable.
///
/// `route` is the template of the route, never the path. `outcome` is the response status. `user` is the user of a key
/// or a capability token, `worker:` and the sandbox for the token of a worker, or `sandbox:` and the sandbox for any
/// program inside it, or `system:` and the part of the server that acts by itself. `owner` is the owner of the thread.
public record AuditEntry(
        Instant at,
        Kind kind,
        int outcome,
        String route,
        Optional<UserId> user,
        Optional<SandboxId> sandbox,
        Optional<UserId> owner,
        Optional<ThreadId> thread,
        Optional<String> jti,
        Optional<Scopes> scopes,
        String detail) {
    private static final String WORKER = "worker:";

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
        EGRESS
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
                Optional.empty(),
                "");
    }

    /// Reports whether the log may fold equal entries into one with a count. Refusals change nothing, and the log
    /// of the sandbox contains the calls of its worker.
    boolean isFoldable() {
        return kind == Kind.REFUSED || kind == Kind.USED && (route.startsWith("GET ") || isByWorker());
    }

    boolean isByWorker() {
        return user.filter(name -> name.value().startsWith(WORKER)).isPresent();
    }

    /// Returns what equal entries have in common: everything but the time.
    AuditEntry withoutTime() {
        return new AuditEntry(Instant.EPOCH, kind, outcome, route, user, sandbox, owner, thread, jti, scopes, detail);
    }

    /// Returns an entry that only names the principal, the route and the outcome. A caller has few of them.
    AuditEntry withoutTarget() {
        var coarse = of(at, kind, outcome, route);
        return user.map(coarse::byName).orElse(coarse);
    }

    /// Sets the principal, and its token if it has one.
    public AuditEntry by(Principal principal) {
        Optional<String> token = switch (principal) {
            case Principal.Holder(var grant) -> Optional.of(grant.jti());
            case Principal.Worker(var grant) -> Optional.of(grant.fingerprint());
            case Principal.Admin _, Principal.User _ -> Optional.empty();
        };
        var name = principal instanceof Principal.Worker(var grant)
                ? new UserId(WORKER + grant.sandbox())
                : principal.name();
        return new AuditEntry(
                at, kind, outcome, route, Optional.of(name), sandbox, owner, thread, token, scopes, detail);
    }

    /// Sets the programs of a sandbox as the principal.
    public AuditEntry byProgramOf(SandboxId id) {
        return byName(new UserId("sandbox:" + id));
    }

    /// Sets a part of the server that acts by itself as the principal.
    public AuditEntry bySystem(String part) {
        return byName(system(part));
    }

    /// Returns the name of a part of the server that acts by itself, such as the orchestrator.
    public static UserId system(String part) {
        return new UserId("system:" + part);
    }

    private AuditEntry byName(UserId name) {
        return new AuditEntry(at, kind, outcome, route, Optional.of(name), sandbox, owner, thread, jti, scopes, detail);
    }

    public AuditEntry on(SandboxId id, ThreadKey key) {
        return onSandbox(id).onThread(key);
    }

    public AuditEntry onSandbox(SandboxId id) {
        return new AuditEntry(at, kind, outcome, route, user, Optional.of(id), owner, thread, jti, scopes, detail);
    }

    public AuditEntry onThread(ThreadKey key) {
        return new AuditEntry(
                at,
                kind,
                outcome,
                route,
                user,
                sandbox,
                Optional.of(key.user()),
                Optional.of(key.thread()),
                jti,
                scopes,
                detail);
    }

    /// Sets the thread of a request whose caller, and so the owner of the thread, is unknown.
    public AuditEntry onThread(ThreadId id) {
        return new AuditEntry(at, kind, outcome, route, user, sandbox, owner, Optional.of(id), jti, scopes, detail);
    }

    public AuditEntry token(String id, Scopes allowed) {
        return new AuditEntry(
                at, kind, outcome, route, user, sandbox, owner, thread, Optional.of(id), Optional.of(allowed), detail);
    }

    public AuditEntry scopes(Scopes allowed) {
        return new AuditEntry(
                at, kind, outcome, route, user, sandbox, owner, thread, jti, Optional.of(allowed), detail);
    }

    public AuditEntry detail(String text) {
        return new AuditEntry(at, kind, outcome, route, user, sandbox, owner, thread, jti, scopes, text);
    }
}
