package dev.vivarium.server.settings;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongSupplier;

/// Rate limits of the worker of one sandbox, in calls and event bytes per minute. Immutable.
///
/// @param nanos clock of the rate limits
public record RateConfig(boolean isOn, Map<Kind, Long> limits, LongSupplier nanos) {
    /// Kind of call with its own limit.
    public enum Kind {
        EVENTS("events", Catalogue.RATE_EVENTS),
        EVENT_BYTES("event-bytes", Catalogue.RATE_EVENT_MB),
        HEARTBEATS("heartbeats", Catalogue.RATE_HEARTBEATS),
        MESSAGES("messages", Catalogue.RATE_MESSAGES),
        MODELS("models", Catalogue.RATE_MODELS),
        OTHERS("others", Catalogue.RATE_OTHERS);

        private final String text;
        private final Setting<? extends Number> setting;

        Kind(String text, Setting<? extends Number> setting) {
            this.text = text;
            this.setting = setting;
        }

        public String text() {
            return text;
        }
    }

    static RateConfig of(Settings settings) {
        var limits = new EnumMap<Kind, Long>(Kind.class);
        for (Kind kind : Kind.values()) {
            limits.put(kind, settings.get(kind.setting).longValue());
        }
        return new RateConfig(settings.get(Catalogue.RATE_LIMITS), limits, System::nanoTime);
    }

    public RateConfig withNanos(LongSupplier other) {
        return new RateConfig(isOn, limits, other);
    }
}
