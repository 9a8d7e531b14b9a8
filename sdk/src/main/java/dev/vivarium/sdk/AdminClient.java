package dev.vivarium.sdk;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.http.Answer;
import dev.vivarium.sdk.http.Connection;
import dev.vivarium.sdk.http.RemoteConfig;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/// What an operator asks of a server: how it is, and who has its keys. Keys need the admin's key; there is no local
/// mode, because there is nobody to keep out. Thread-safe.
public final class AdminClient implements AutoCloseable {
    private static final String KEYS = "/admin/keys";
    private static final int UNAVAILABLE = 503;

    private final Connection connection;

    private AdminClient(Connection connection) {
        this.connection = connection;
    }

    public static AdminClient remote(URI server, String apiKey) {
        return remote(RemoteConfig.of(server, apiKey));
    }

    public static AdminClient remote(RemoteConfig config) {
        return new AdminClient(new Connection(config));
    }

    /// A user's key at the one moment when it can be read. Immutable.
    public record IssuedKey(String id, UserId user, String key) {
        static IssuedKey read(JsonFields fields) {
            return new IssuedKey(fields.string("key_id"), new UserId(fields.string("user_id")), fields.string("key"));
        }

        @Override
        public String toString() {
            return "IssuedKey[" + id + ", " + user + ", ***]";
        }
    }

    /// What may be shown of a key. Immutable.
    public record KeyInfo(String id, UserId user, Instant createdAt) {
        static KeyInfo read(JsonFields fields) {
            return new KeyInfo(
                    fields.string("key_id"), new UserId(fields.string("user_id")), fields.time("created_at"));
        }
    }

    /// How a server is. Immutable.
    ///
    /// @param failing each part that is unwell, and why; empty when all is well
    public record Health(
            String status,
            String version,
            String provider,
            int poolReady,
            int activeSandboxes,
            Duration uptime,
            Map<String, String> failing) {
        public boolean isHealthy() {
            return failing.isEmpty();
        }

        static Health read(JsonFields fields) {
            return new Health(
                    fields.string("status"),
                    fields.string("version"),
                    fields.object("provider").string("name"),
                    (int) fields.integer("pool_available"),
                    (int) fields.integer("active_sessions"),
                    Duration.ofSeconds(fields.integer("uptime_seconds")),
                    fields.optionalObject("failing").map(JsonFields::strings).orElse(Map.of()));
        }
    }

    /// How the server is. A server that is unwell still answers this, and says with what.
    public Health health() {
        Answer answer = connection.get("/health");
        return answer.status() == UNAVAILABLE && !answer.isProblem()
                ? answer.decode(Health::read)
                : answer.read(Health::read);
    }

    /// A new key for the user. It cannot be shown again.
    public IssuedKey issueKey(String user) {
        byte[] body = Json.bytes(out -> out.writeStringProperty("user_id", new UserId(user).value()));
        return connection.post(KEYS, body).read(IssuedKey::read);
    }

    public List<KeyInfo> keys() {
        return connection
                .get(KEYS)
                .read(fields ->
                        fields.objects("keys").stream().map(KeyInfo::read).toList());
    }

    /// The key stops working at once.
    public void revokeKey(String id) {
        connection.delete(KEYS + "/" + Connection.encoded(id)).requireSuccess();
    }

    @Override
    public void close() {
        connection.close();
    }
}
