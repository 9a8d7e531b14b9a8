package dev.vivarium.core.guard.anomaly;

/// Exponentially weighted mean and variance of a figure. Immutable.
///
/// The first values have equal weights. Later, a value has the weight [#WEIGHT], so that the baseline follows slow
/// changes and forgets old values.
///
/// @param samples number of values
/// @param recent  mean of the last few values
public record Baseline(long samples, double mean, double variance, double recent) {
    public static final Baseline EMPTY = new Baseline(0, 0, 0, 0);

    /// About the last hundred values count.
    static final double WEIGHT = 0.02;

    /// About the last nine values count.
    static final double RECENT_WEIGHT = 0.2;

    Baseline with(double value) {
        double weight = Math.max(WEIGHT, 1.0 / (samples + 1));
        double recentWeight = Math.max(RECENT_WEIGHT, 1.0 / (samples + 1));
        double step = weight * (value - mean);
        return new Baseline(
                samples + 1,
                mean + step,
                (1 - weight) * (variance + (value - mean) * step),
                recent + recentWeight * (value - recent));
    }

    /// Returns the distance of a value from the mean in standard deviations.
    ///
    /// @param floor smallest standard deviation that counts. Equal values have none
    double deviation(double value, double floor) {
        return (value - mean) / Math.max(floor, Math.sqrt(Math.max(0, variance)));
    }
}
