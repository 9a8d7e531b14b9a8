package dev.vivarium.sdk;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.http.Transport;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// API keys of users, for administrators. Thread-safe.
public final class Keys {
    private static final String PATH = "/admin/keys";

    private final Transport transport;

    Keys(Transport transport) {
        this.transport = transport;
    }

    /// A new key with its secret, which the server shows only once. Immutable.
    public record IssuedKey(String id, UserId user, String key) {
        private static IssuedKey read(JsonFields fields) {
            return new IssuedKey(fields.string("key_id"), new UserId(fields.string("user_id")), fields.string("key"));
        }

        @Override
        public String toString() {
            return "IssuedKey[" + id + ", " + user + ", ***]";
        }
    }

    /// A key without its secret. Immutable.
    ///
    /// @param lastUsedAt last request with the key; empty if the key is unused
    /// @param expiresAt empty if the key does not expire
    public record KeyInfo(
            String id,
            UserId user,
            Instant createdAt,
            Optional<String> label,
            Optional<Instant> lastUsedAt,
            Optional<Instant> expiresAt) {
        private static KeyInfo read(JsonFields fields) {
            return new KeyInfo(
                    fields.string("key_id"),
                    new UserId(fields.string("user_id")),
                    fields.time("created_at"),
                    fields.optionalString("label"),
                    fields.optionalTime("last_used_at"),
                    fields.optionalTime("expires_at"));
        }
    }

    /// Request for a key. Immutable.
    ///
    /// @param label purpose of the key, for people
    /// @param expiresAt when the key becomes invalid; never if empty
    public record KeyRequest(String user, Optional<String> label, Optional<Instant> expiresAt) {}

    /// Creates a key for the user. It has no label and does not expire.
    public IssuedKey issue(String user) {
        return issue(new KeyRequest(user, Optional.empty(), Optional.empty()));
    }

    public IssuedKey issue(KeyRequest request) {
        return transport.post(
                PATH,
                out -> {
                    out.writeStringProperty("user_id", request.user());
                    request.label().ifPresent(label -> out.writeStringProperty("label", label));
                    request.expiresAt().ifPresent(at -> Json.time(out, "expires_at", at));
                },
                IssuedKey::read);
    }

    public List<KeyInfo> list() {
        return transport.get(
                PATH,
                fields -> fields.objects("keys").stream().map(KeyInfo::read).toList());
    }

    /// Revokes the key. The server rejects it from now on.
    public void revoke(String id) {
        transport.delete(PATH + "/" + Transport.segment(id));
    }
}
