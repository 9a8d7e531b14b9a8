package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.sdk.http.Response;
import dev.vivarium.sdk.http.Transport;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// State of a server. Immutable.
///
/// @param failing    each failing part, with the reason; empty if the server is healthy
/// @param serverTime the clock of the server, in whole seconds
public record Health(
        String status,
        String version,
        Provider provider,
        int poolReady,
        int activeSandboxes,
        Duration uptime,
        Map<String, String> failing,
        Optional<Instant> serverTime) {
    /// The isolation provider of a server. Immutable.
    public record Provider(String name, String isolation, boolean isolates, String diskLimit, String cgroups) {
        private static Provider read(JsonFields fields) {
            return new Provider(
                    fields.string("name"),
                    fields.string("isolation"),
                    fields.flag("isolates"),
                    fields.string("disk_limit"),
                    fields.string("cgroups"));
        }
    }

    public boolean isHealthy() {
        return failing.isEmpty();
    }

    /// An unhealthy server answers 503 with the same body.
    static Health of(Transport transport) {
        try (Response response = transport.send("GET", "/health", Map.of(), Transport.Body.none())) {
            return response.decode(fields -> read(fields, response.date().map(Instant::ofEpochMilli)));
        }
    }

    private static Health read(JsonFields fields, Optional<Instant> serverTime) {
        return new Health(
                fields.string("status"),
                fields.string("version"),
                Provider.read(fields.object("provider")),
                (int) fields.integer("pool_available"),
                (int) fields.integer("active_sessions"),
                Duration.ofSeconds(fields.integer("uptime_seconds")),
                fields.optionalObject("failing").map(JsonFields::strings).orElse(Map.of()),
                serverTime);
    }
}
