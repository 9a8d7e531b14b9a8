package dev.vivarium.server.settings;

/// How often the worker of one sandbox may call, in calls a minute of each kind. Immutable.
public record RateConfig(boolean isOn, int events, int heartbeats, int messages, int others) {
    static RateConfig of(Settings settings) {
        return new RateConfig(
                settings.get(Catalogue.RATE_LIMITS),
                settings.get(Catalogue.RATE_EVENTS),
                settings.get(Catalogue.RATE_HEARTBEATS),
                settings.get(Catalogue.RATE_MESSAGES),
                settings.get(Catalogue.RATE_OTHERS));
    }
}
