package dev.vivarium.server.settings;

import java.util.function.LongSupplier;

/// Rate limits of the worker of one sandbox, in calls and event bytes per minute. Immutable.
///
/// @param nanos clock of the rate limits
public record RateConfig(
        boolean isOn,
        int events,
        long eventBytes,
        int heartbeats,
        int messages,
        int models,
        int others,
        LongSupplier nanos) {
    private static final long MIB = 1024 * 1024;

    static RateConfig of(Settings settings) {
        return new RateConfig(
                settings.get(Catalogue.RATE_LIMITS),
                settings.get(Catalogue.RATE_EVENTS),
                settings.get(Catalogue.RATE_EVENT_MB) * MIB,
                settings.get(Catalogue.RATE_HEARTBEATS),
                settings.get(Catalogue.RATE_MESSAGES),
                settings.get(Catalogue.RATE_MODELS),
                settings.get(Catalogue.RATE_OTHERS),
                System::nanoTime);
    }

    public RateConfig withNanos(LongSupplier other) {
        return new RateConfig(isOn, events, eventBytes, heartbeats, messages, models, others, other);
    }
}
