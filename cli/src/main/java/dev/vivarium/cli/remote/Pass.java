package dev.vivarium.cli.remote;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.core.JsonGenerator;

/// The right to use one sandbox for some minutes, as a server gave it. Immutable.
public record Pass(
        String sandbox, URI http, URI ws, String token, Instant issuedAt, Instant expiresAt, Set<String> scopes) {
    private static final double RENEW_AFTER = 0.8;

    /// Reads what `POST /threads/{thread_id}/sandbox` answered.
    public static Pass read(JsonFields fields, Instant now) {
        var endpoints = fields.object("endpoints");
        return new Pass(
                fields.string("sandbox_id"),
                URI.create(endpoints.string("http")),
                URI.create(endpoints.string("ws")),
                fields.string("token"),
                now,
                fields.time("expires_at"),
                words(fields));
    }

    /// The next pass for the same sandbox.
    public Pass renewed(JsonFields fields, Instant now) {
        return new Pass(sandbox, http, ws, fields.string("token"), now, fields.time("expires_at"), scopes);
    }

    /// Reports whether most of its life is over, so that a call begun now might outlive it.
    public boolean isDue(Instant now) {
        long life = Duration.between(issuedAt, expiresAt).toMillis();
        return !now.isBefore(issuedAt.plusMillis((long) (life * RENEW_AFTER)));
    }

    static Pass restored(JsonFields fields) {
        return new Pass(
                fields.string("sandbox_id"),
                URI.create(fields.string("http")),
                URI.create(fields.string("ws")),
                fields.string("token"),
                fields.time("issued_at"),
                fields.time("expires_at"),
                words(fields));
    }

    void write(JsonGenerator out) {
        out.writeStringProperty("sandbox_id", sandbox);
        out.writeStringProperty("http", http.toString());
        out.writeStringProperty("ws", ws.toString());
        out.writeStringProperty("token", token);
        Json.time(out, "issued_at", issuedAt);
        Json.time(out, "expires_at", expiresAt);
        out.writeArrayPropertyStart("scopes");
        scopes.forEach(out::writeString);
        out.writeEndArray();
    }

    private static Set<String> words(JsonFields fields) {
        return new TreeSet<>(fields.findStrings("scopes").orElse(List.of()));
    }

    @Override
    public String toString() {
        return "Pass[" + sandbox + ", " + scopes + ", until " + expiresAt + ", ***]";
    }
}
