package dev.vivarium.server.api;

import dev.vivarium.core.access.Keys;
import dev.vivarium.json.Json;
import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `/admin/keys`: issues, lists and revokes the keys of users. For admins. Thread-safe.
public final class KeysHandler {
    private final Keys keys;

    public KeysHandler(Keys keys) {
        this.keys = keys;
    }

    /// `POST /admin/keys`: the one answer in which the key can be read.
    public void issue(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var fields = exchange.json();
        var user = new UserId(fields.string("user_id"));
        fields.refuseOthers();
        var issued = keys.issue(user);
        exchange.answer(201, out -> {
            out.writeStringProperty("key_id", issued.keyId());
            out.writeStringProperty("user_id", issued.user().value());
            out.writeStringProperty("key", issued.key());
        });
    }

    /// `GET /admin/keys`.
    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var all = keys.list();
        exchange.answer(200, out -> {
            out.writeArrayPropertyStart("keys");
            for (var key : all) {
                out.writeStartObject();
                out.writeStringProperty("key_id", key.keyId());
                out.writeStringProperty("user_id", key.user().value());
                Json.time(out, "created_at", key.createdAt());
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }

    /// `DELETE /admin/keys/{key_id}`.
    public void revoke(Exchange exchange) throws IOException {
        exchange.allowQuery();
        String keyId = exchange.path("key_id");
        if (!keys.revoke(keyId)) {
            throw new SandboxException(new AccessFailure.NoSuchKey(keyId));
        }
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "revoked");
            out.writeStringProperty("key_id", keyId);
        });
    }
}
