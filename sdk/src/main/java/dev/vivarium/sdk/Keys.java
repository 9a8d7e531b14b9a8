package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.http.Transport;
import java.time.Instant;
import java.util.List;

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
    public record KeyInfo(String id, UserId user, Instant createdAt) {
        private static KeyInfo read(JsonFields fields) {
            return new KeyInfo(
                    fields.string("key_id"), new UserId(fields.string("user_id")), fields.time("created_at"));
        }
    }

    /// Creates a key for the user.
    public IssuedKey issue(String user) {
        return transport.post(PATH, out -> out.writeStringProperty("user_id", user), IssuedKey::read);
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
