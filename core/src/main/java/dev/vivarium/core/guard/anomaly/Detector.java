package dev.vivarium.core.guard.anomaly;

import java.util.Optional;

/// Comparison of values with their baselines. Stateless.
///
/// A value is an anomaly if it is far above the baseline, and if the baseline has enough values. Values below the
/// baseline are never anomalies. An extreme value changes the baseline only as much as a value at [#CLAMP] deviations,
/// so that an anomaly does not become the usual value at once.
final class Detector {
    /// Number of values before the first anomaly.
    static final int WARM_UP = 30;

    static final double THRESHOLD = 4;
    private static final double CLAMP = 3;

    /// Smallest standard deviation of a single zero or one.
    private static final double MIN_SHARE = 0.1;

    private Detector() {}

    /// Anomalous value. Immutable.
    record Finding(double value, double usual, double deviation, long samples) {}

    /// @param next    baseline with the new value
    /// @param finding present if the value is an anomaly
    record Result(Baseline next, Optional<Finding> finding) {}

    static Result observe(Metric metric, Baseline baseline, double value) {
        return metric.scale == Metric.Scale.SHARE
                ? observeShare(metric, baseline, value)
                : observeValue(metric, baseline, value);
    }

    private static Result observeValue(Metric metric, Baseline baseline, double value) {
        double scaled = metric.scale.of(value);
        double deviation = baseline.deviation(scaled, metric.scale.floor);
        double max = Math.max(metric.scale.floor, Math.sqrt(Math.max(0, baseline.variance()))) * CLAMP;
        boolean isWarm = baseline.samples() >= WARM_UP;
        double kept = isWarm ? Math.clamp(scaled, baseline.mean() - max, baseline.mean() + max) : scaled;
        boolean isAnomaly = isWarm && deviation >= THRESHOLD && value >= metric.min;
        return new Result(
                baseline.with(kept),
                isAnomaly
                        ? Optional.of(
                                new Finding(value, metric.scale.back(baseline.mean()), deviation, baseline.samples()))
                        : Optional.empty());
    }

    /// Compares the share of the last values with the share of all.
    private static Result observeShare(Metric metric, Baseline baseline, double value) {
        Baseline next = baseline.with(value);
        double weight = Baseline.RECENT_WEIGHT;
        double single = Math.sqrt(Math.max(0, baseline.mean() * (1 - baseline.mean())));
        double spread = Math.max(single, MIN_SHARE) * Math.sqrt(weight / (2 - weight));
        double deviation = (next.recent() - baseline.mean()) / spread;
        boolean isAnomaly = baseline.samples() >= WARM_UP && deviation >= THRESHOLD && next.recent() >= metric.min;
        return new Result(
                next,
                isAnomaly
                        ? Optional.of(new Finding(next.recent(), baseline.mean(), deviation, baseline.samples()))
                        : Optional.empty());
    }
}
