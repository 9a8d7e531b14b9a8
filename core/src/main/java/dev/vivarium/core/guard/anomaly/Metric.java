package dev.vivarium.core.guard.anomaly;

import dev.vivarium.model.TextEnum;

/// Figures with a baseline. Immutable.
public enum Metric implements TextEnum {
    /// Duration of a run.
    DURATION_SECONDS(Scale.LOGARITHM, 60),
    TOKENS_PER_MINUTE(Scale.LOGARITHM, 1000),
    TOOL_CALLS_PER_MINUTE(Scale.LOGARITHM, 10),
    /// Share of failed runs among the last ones.
    ERROR_RATE(Scale.SHARE, 0.3),
    /// Sandboxes that a user creates.
    CREATIONS_PER_MINUTE(Scale.COUNT, 10),
    /// Requests that a limit or a quota rejects.
    LIMIT_VIOLATIONS_PER_MINUTE(Scale.COUNT, 10),
    /// Requests and commands with invalid content.
    VALIDATION_FAILURES_PER_MINUTE(Scale.COUNT, 10),
    REFUSED_EGRESS_PER_MINUTE(Scale.COUNT, 10),
    /// Requests with an invalid or insufficient credential.
    REFUSED_TOKENS_PER_MINUTE(Scale.COUNT, 10);

    /// Scale on which values of a figure are compared.
    enum Scale {
        /// For times and rates, whose values differ by factors.
        LOGARITHM(0.25) {
            @Override
            double of(double value) {
                return Math.log1p(Math.max(0, value));
            }

            @Override
            double back(double scaled) {
                return Math.expm1(scaled);
            }
        },
        /// For numbers of independent events, whose deviation on this scale is about one for every mean.
        COUNT(1) {
            @Override
            double of(double value) {
                return 2 * Math.sqrt(Math.max(0, value) + 0.375);
            }

            @Override
            double back(double scaled) {
                return Math.max(0, scaled * scaled / 4 - 0.375);
            }
        },
        /// For values of zero and one, of which the mean of the last ones is compared.
        SHARE(0) {
            @Override
            double of(double value) {
                return value;
            }

            @Override
            double back(double scaled) {
                return scaled;
            }
        };

        /// Smallest standard deviation that counts on this scale.
        final double floor;

        Scale(double floor) {
            this.floor = floor;
        }

        abstract double of(double value);

        abstract double back(double scaled);
    }

    final Scale scale;

    /// Smaller values are never anomalies.
    final double min;

    Metric(Scale scale, double min) {
        this.scale = scale;
        this.min = min;
    }
}
