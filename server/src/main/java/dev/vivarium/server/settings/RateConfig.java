package dev.vivarium.server.settings;

import java.util.function.LongSupplier;

/// How often the worker of one sandbox may call, in calls a minute of each kind, and how many bytes of events it may
/// send. Immutable.
///
/// @param nanos the clock by which a minute passes
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
