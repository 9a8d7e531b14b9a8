package dev.vivarium.server.settings;

import dev.vivarium.server.settings.Setting.Range;
import java.time.Duration;

/// Settings of the HTTP server. Immutable.
public record HttpConfig(String host, int port, Duration idleConnection, Duration stopGrace, Limits limits) {
    private static final double MANY = 1_000_000;

    static final Setting<Integer> MAX_CONNECTIONS_PER_ADDRESS = Setting.integer(
            "max-connections-per-address",
            "",
            1024,
            new Range(1, MANY),
            "Maximum number of connections per client address; raise it behind a reverse proxy.");
    static final Setting<Integer> MAX_REQUESTS = Setting.integer(
            "max-requests-per-principal",
            "",
            512,
            new Range(1, MANY),
            "Maximum number of concurrent requests of one principal; four times as many streams and long polls.");

    /// Limits of one client. Immutable.
    ///
    /// @param headDeadline maximum time for a request head, from its first byte or from the accept
    /// @param bodyGrace how long the server waits for a request body before [#bodyRate] applies
    /// @param bodyRate minimum average rate of a request body, in bytes per second
    /// @param perAddress maximum number of connections per address
    /// @param perPrincipal maximum number of requests in flight per principal
    public record Limits(Duration headDeadline, Duration bodyGrace, int bodyRate, int perAddress, int perPrincipal) {
        private static final Duration HEAD_DEADLINE = Duration.ofSeconds(10);
        private static final Duration BODY_GRACE = Duration.ofSeconds(10);
        private static final int BODY_RATE = 1024;

        /// Returns a copy with other deadlines for heads and bodies.
        public Limits withDeadlines(Duration head, Duration body) {
            return new Limits(head, body, bodyRate, perAddress, perPrincipal);
        }
    }

    static HttpConfig of(Settings settings) {
        var limits = new Limits(
                Limits.HEAD_DEADLINE,
                Limits.BODY_GRACE,
                Limits.BODY_RATE,
                settings.get(MAX_CONNECTIONS_PER_ADDRESS),
                settings.get(MAX_REQUESTS));
        return new HttpConfig(
                settings.get(Catalogue.HOST),
                settings.get(Catalogue.PORT),
                settings.get(Catalogue.IDLE_CONNECTION),
                settings.get(Catalogue.STOP_GRACE),
                limits);
    }

    public HttpConfig withLimits(Limits other) {
        return new HttpConfig(host, port, idleConnection, stopGrace, other);
    }
}
