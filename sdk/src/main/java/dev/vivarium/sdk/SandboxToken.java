package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// Capability token for one sandbox, with the addresses where it is valid. Immutable.
public record SandboxToken(
        String sandbox, URI http, URI ws, String token, Instant issuedAt, Instant expiresAt, List<String> scopes) {
    private static final double RENEW_AFTER = 0.8;

    public SandboxToken {
        scopes = List.copyOf(scopes);
    }

    static SandboxToken read(JsonFields fields) {
        var endpoints = fields.object("endpoints");
        return new SandboxToken(
                fields.string("sandbox_id"),
                URI.create(endpoints.string("http")),
                URI.create(endpoints.string("ws")),
                fields.string("token"),
                Instant.now(),
                fields.time("expires_at"),
                fields.findStrings("scopes").orElse(List.of()));
    }

    /// The successor of this token from the response to a refresh.
    SandboxToken refreshed(JsonFields fields) {
        return new SandboxToken(
                sandbox, http, ws, fields.string("token"), Instant.now(), fields.time("expires_at"), scopes);
    }

    public SandboxToken withIssuedAt(Instant time) {
        return new SandboxToken(sandbox, http, ws, token, time, expiresAt, scopes);
    }

    /// Reports whether most of its lifetime is over, so that a call that starts now might outlive it.
    public boolean isDue(Instant now) {
        long lifetime = Duration.between(issuedAt, expiresAt).toMillis();
        return !now.isBefore(issuedAt.plusMillis((long) (lifetime * RENEW_AFTER)));
    }

    @Override
    public String toString() {
        return "SandboxToken[" + sandbox + ", " + scopes + ", until " + expiresAt + ", ***]";
    }
}
