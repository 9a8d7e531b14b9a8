package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.IssuedToken;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Common parts of the routes that issue tokens: types of requests and responses, and the audit entry. Thread-safe.
public final class TokenResponse {
    /// The names of scopes. A request must name at least one.
    static final JsonType<Scopes> SCOPES = JsonType.list(STRING.with(
                    "enum", Arrays.stream(Scope.values()).map(Scope::text).toList()))
            .as(TokenResponse::scopes, Scopes::names);

    /// Lifetime of a token in seconds. A request may ask for any lifetime; the server clamps it to the range.
    static final JsonType<Duration> TTL = LONG.with("default", TokenRequest.MAX_TTL.toSeconds())
            .with("description", "Seconds. The server adjusts the value to the range from 60 to 900.")
            .as(TokenResponse::ttl, Duration::toSeconds);

    static final ObjectType<Sent> TOKEN = object(
            "Token",
            field("sandbox_id", SANDBOX_ID, sent -> sent.grant().sandbox()),
            field("thread_id", THREAD_ID, sent -> sent.grant().thread()),
            field(
                    "user_id",
                    USER_ID,
                    "The owner of the thread.",
                    sent -> sent.grant().key().user()),
            field("endpoints", Endpoints.URLS, Sent::urls),
            field("token", STRING, sent -> sent.issued().token()),
            field("jti", STRING, sent -> sent.grant().jti()),
            field("expires_at", TIME, sent -> sent.grant().expires()),
            field("refresh_before", TIME, sent -> sent.issued().refreshBefore()),
            field("scopes", SCOPES, sent -> sent.grant().scopes()),
            optional("created", BOOLEAN, Sent::created));

    /// A token as a response shows it.
    ///
    /// @param created whether the request also created the sandbox; empty if it could not
    record Sent(IssuedToken issued, Endpoints.Urls urls, Optional<Boolean> created) {
        private Grant grant() {
            return issued.grant();
        }
    }

    private final Endpoints endpoints;
    private final Audit audit;

    public TokenResponse(Endpoints endpoints, Audit audit) {
        this.endpoints = endpoints;
        this.audit = audit;
    }

    private static Scopes scopes(List<String> names) {
        require(!names.isEmpty(), "scopes", "must name at least one");
        return Scopes.ofNames(names);
    }

    private static Duration ttl(long seconds) {
        return Duration.ofSeconds(
                Math.clamp(seconds, TokenRequest.MIN_TTL.toSeconds(), TokenRequest.MAX_TTL.toSeconds()));
    }

    /// Returns the requested scopes that the caller may have.
    static Scopes granted(Scopes wanted, Scopes max) {
        var granted = wanted.narrow(max);
        if (granted.isEmpty()) {
            throw new SandboxException(new Failure.NotAllowed(
                    "none of the requested scopes is available here; available are " + max.names()));
        }
        return granted;
    }

    /// Records the token in the audit log and sends it. `how` is the last segment of the route.
    void send(Exchange exchange, IssuedToken issued, String how, Optional<Boolean> created) throws IOException {
        var grant = issued.grant();
        String route = "POST /threads/{thread_id}/sandbox" + (how.isEmpty() ? "" : "/" + how);
        exchange.markAudited();
        audit.record(AuditEntry.of(issued.issuedAt(), AuditEntry.Kind.ISSUED, 200, route)
                .by(exchange.principal())
                .on(grant.sandbox(), grant.key())
                .token(grant.jti(), grant.scopes())
                .detail("for " + grant.subject() + " until " + grant.expires()));
        exchange.answer(200, TOKEN, new Sent(issued, endpoints.of(exchange, grant.sandbox()), created));
    }
}
