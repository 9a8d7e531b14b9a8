package dev.vivarium.server.settings;

import java.time.Duration;

/// Where and how the server listens. Immutable.
public record HttpConfig(String host, int port, Duration idleConnection, Duration stopGrace) {
    static HttpConfig of(Settings settings) {
        return new HttpConfig(
                settings.get(Catalogue.HOST),
                settings.get(Catalogue.PORT),
                settings.get(Catalogue.IDLE_CONNECTION),
                settings.get(Catalogue.STOP_GRACE));
    }
}
