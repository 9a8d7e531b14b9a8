package dev.vivarium.server.settings;

import java.time.Duration;

/// How sandboxes are watched. Nobody needs to choose more than how often it is told what they use. Immutable.
///
/// @param metricsEvery how often it is told what a sandbox uses
/// @param heartbeat how often whoever watches over a WebSocket hears something
/// @param breath how often whoever reads a stream of events hears something
/// @param introduction how long a client of a WebSocket has to say who it is
public record WatchConfig(Duration metricsEvery, Duration heartbeat, Duration breath, Duration introduction) {
    /// How long a client has on a server that people use.
    public static final Duration INTRODUCTION = Duration.ofSeconds(5);

    private static final Duration HEARTBEAT = Duration.ofSeconds(30);
    private static final Duration BREATH = Duration.ofSeconds(5);

    static WatchConfig of(Settings settings) {
        return new WatchConfig(settings.get(Catalogue.METRICS_EVERY), HEARTBEAT, BREATH, INTRODUCTION);
    }

    /// The same with another time between signs of life on a WebSocket.
    public WatchConfig withHeartbeat(Duration other) {
        return new WatchConfig(metricsEvery, other, breath, introduction);
    }

    /// The same with another time between signs of life on a stream.
    public WatchConfig withBreath(Duration other) {
        return new WatchConfig(metricsEvery, heartbeat, other, introduction);
    }

    /// The same with another time for a client to say who it is.
    public WatchConfig withIntroduction(Duration other) {
        return new WatchConfig(metricsEvery, heartbeat, breath, other);
    }
}
