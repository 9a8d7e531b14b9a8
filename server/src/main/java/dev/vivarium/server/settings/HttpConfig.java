package dev.vivarium.server.settings;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// Settings of the HTTP server. Immutable.
///
/// @param tls certificate and key; empty for plain HTTP
public record HttpConfig(
        String host, int port, Duration idleConnection, Duration stopGrace, Limits limits, Optional<TlsFiles> tls) {
    /// PEM files of a certificate chain and its private key. Immutable.
    public record TlsFiles(Path certificate, Path key) {}

    /// Limits of one client. Immutable.
    ///
    /// @param headDeadline maximum time for a request head, from its first byte or from the accept
    /// @param bodyGrace how long the server waits for a request body before [#bodyRate] applies
    /// @param bodyRate minimum average rate of a request body, in bytes per second
    /// @param perAddress maximum number of connections per address
    /// @param perPrincipal maximum number of requests in flight per principal
    /// @param failureDelay maximum delay of the response to a failed authentication
    public record Limits(
            Duration headDeadline,
            Duration bodyGrace,
            int bodyRate,
            int perAddress,
            int perPrincipal,
            Duration failureDelay) {
        private static final Duration HEAD_DEADLINE = Duration.ofSeconds(10);
        private static final Duration BODY_GRACE = Duration.ofSeconds(10);
        private static final int BODY_RATE = 1024;

        /// Reports whether a body is too slow, of which so many bytes have arrived while the server waited.
        public boolean isTooSlow(Duration waited, long received) {
            return waited.compareTo(bodyGrace) > 0 && received < waited.toSeconds() * bodyRate;
        }

        /// Returns a copy with other deadlines for heads and bodies.
        public Limits withDeadlines(Duration head, Duration body) {
            return new Limits(head, body, bodyRate, perAddress, perPrincipal, failureDelay);
        }
    }

    static HttpConfig of(Settings settings) {
        var limits = new Limits(
                Limits.HEAD_DEADLINE,
                Limits.BODY_GRACE,
                Limits.BODY_RATE,
                settings.get(Catalogue.MAX_CONNECTIONS_PER_ADDRESS),
                settings.get(Catalogue.MAX_REQUESTS),
                settings.get(Catalogue.FAILURE_DELAY));
        return new HttpConfig(
                settings.get(Catalogue.HOST),
                settings.get(Catalogue.PORT),
                settings.get(Catalogue.IDLE_CONNECTION),
                settings.get(Catalogue.STOP_GRACE),
                limits,
                tls(settings.get(Catalogue.TLS_CERT), settings.get(Catalogue.TLS_KEY)));
    }

    private static Optional<TlsFiles> tls(Optional<Path> certificate, Optional<Path> key) {
        require(certificate.isPresent() == key.isPresent(), "tls-cert", "needs tls-key, and tls-key needs tls-cert");
        return certificate.map(chain -> new TlsFiles(chain, key.orElseThrow()));
    }

    public HttpConfig withLimits(Limits other) {
        return new HttpConfig(host, port, idleConnection, stopGrace, other, tls);
    }
}
