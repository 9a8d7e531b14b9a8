package dev.vivarium.server.settings;

import java.time.Duration;

/// How sandboxes are watched. Immutable.
///
/// @param metricsEvery how often it is told what a sandbox uses
/// @param heartbeat how often whoever watches over a WebSocket hears something; nobody needs to choose it
public record WatchConfig(Duration metricsEvery, Duration heartbeat) {
    private static final Duration HEARTBEAT = Duration.ofSeconds(30);

    static WatchConfig of(Settings settings) {
        return new WatchConfig(settings.get(Catalogue.METRICS_EVERY), HEARTBEAT);
    }
}
