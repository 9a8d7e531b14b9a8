package dev.vivarium.server.settings;

import java.time.Duration;

/// How sandboxes are watched. Immutable.
///
/// @param metricsEvery how often it is told what a sandbox uses
public record WatchConfig(Duration metricsEvery) {
    static WatchConfig of(Settings settings) {
        return new WatchConfig(settings.get(Catalogue.METRICS_EVERY));
    }
}
