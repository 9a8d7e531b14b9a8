package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.IssuedToken;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.access.TokenRequest;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// What the routes that give out tokens share: how one is asked for, answered with and put on record. Thread-safe.
public final class TokenAnswer {
    private final Endpoints endpoints;
    private final Audit audit;

    public TokenAnswer(Endpoints endpoints, Audit audit) {
        this.endpoints = endpoints;
        this.audit = audit;
    }

    /// The scopes that a request asks for, if it does.
    static Optional<Scopes> scopes(JsonFields fields) {
        return fields.optionalStrings("scopes").map(names -> {
            if (names.isEmpty()) {
                throw new SandboxException(new Failure.InvalidRequest("scopes", "must name at least one"));
            }
            return Scopes.ofNames(names);
        });
    }

    /// The life that a request asks for, made to fit.
    static Duration ttl(JsonFields fields) {
        long seconds = fields.optionalInteger("ttl").orElse(TokenRequest.MAX_TTL.toSeconds());
        return Duration.ofSeconds(
                Math.clamp(seconds, TokenRequest.MIN_TTL.toSeconds(), TokenRequest.MAX_TTL.toSeconds()));
    }

    /// What is left of the scopes that were asked for.
    static Scopes granted(Scopes wanted, Scopes most) {
        var granted = wanted.narrow(most);
        if (granted.isEmpty()) {
            throw new SandboxException(
                    new Failure.NotAllowed("none of the scopes may be had here; there are " + most.names()));
        }
        return granted;
    }

    /// Puts a token on record and answers with it. `how` says what it came of.
    void send(Exchange exchange, IssuedToken issued, String how, JsonMore more) throws IOException {
        var grant = issued.grant();
        String route = "POST /threads/{thread_id}/sandbox" + (how.isEmpty() ? "" : "/" + how);
        audit.record(AuditEntry.of(issued.issuedAt(), AuditEntry.Kind.ISSUED, 200, route)
                .by(exchange.principal())
                .on(grant.sandbox(), grant.thread())
                .token(grant.jti(), grant.scopes())
                .detail("for " + grant.subject() + " until " + grant.expires()));
        exchange.answer(200, out -> {
            out.writeStringProperty("sandbox_id", grant.sandbox().value());
            out.writeStringProperty("thread_id", grant.thread().value());
            endpoints.write(out, exchange, grant.sandbox());
            out.writeStringProperty("token", issued.token());
            out.writeStringProperty("jti", grant.jti());
            Json.time(out, "expires_at", grant.expires());
            Json.time(out, "refresh_before", issued.refreshBefore());
            writeScopes(out, grant.scopes());
            more.write(out);
        });
    }

    /// Further fields of an answer.
    @FunctionalInterface
    interface JsonMore {
        void write(JsonGenerator out);
    }

    static void writeScopes(JsonGenerator out, Scopes scopes) {
        out.writeArrayPropertyStart("scopes");
        scopes.names().forEach(out::writeString);
        out.writeEndArray();
    }
}
