package dev.vivarium.server.settings;

import java.time.Duration;

/// Events that the server collects, and intervals and timeouts for clients that watch sandboxes. Immutable.
///
/// Only the first two are settings, because operators need no other.
///
/// @param metricsEvery interval of the usage events of a sandbox
/// @param processEvents whether processes that a command starts have events
/// @param heartbeat maximum silence of the server on a WebSocket
/// @param keepAlive maximum silence of the server on an event stream
/// @param authTimeout how long a client of a WebSocket has to authenticate
public record WatchConfig(
        Duration metricsEvery, boolean processEvents, Duration heartbeat, Duration keepAlive, Duration authTimeout) {
    /// Default authentication timeout of a WebSocket.
    public static final Duration AUTH_TIMEOUT = Duration.ofSeconds(5);

    private static final Duration HEARTBEAT = Duration.ofSeconds(30);
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(5);

    static WatchConfig of(Settings settings) {
        return new WatchConfig(
                settings.get(Catalogue.METRICS_EVERY),
                settings.get(Catalogue.PROCESS_EVENTS),
                HEARTBEAT,
                KEEP_ALIVE,
                AUTH_TIMEOUT);
    }

    /// Returns a copy with another heartbeat interval for WebSockets.
    public WatchConfig withHeartbeat(Duration other) {
        return new WatchConfig(metricsEvery, processEvents, other, keepAlive, authTimeout);
    }

    /// Returns a copy with another keep-alive interval for event streams.
    public WatchConfig withKeepAlive(Duration other) {
        return new WatchConfig(metricsEvery, processEvents, heartbeat, other, authTimeout);
    }

    /// Returns a copy with another authentication timeout.
    public WatchConfig withAuthTimeout(Duration other) {
        return new WatchConfig(metricsEvery, processEvents, heartbeat, keepAlive, other);
    }
}
