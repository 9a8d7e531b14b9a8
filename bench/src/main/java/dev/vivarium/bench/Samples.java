package dev.vivarium.bench;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;

/// Measured durations of one operation, in order of measurement. Not thread-safe; merge with [#add(Samples)].
final class Samples {
    private long[] nanos = new long[64];
    private int count;

    void add(long durationNanos) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, count * 2);
        }
        nanos[count++] = durationNanos;
    }

    void add(Samples other) {
        for (int i = 0; i < other.count; i++) {
            add(other.nanos[i]);
        }
    }

    /// Measures `work` once.
    void time(Runnable work) {
        long start = System.nanoTime();
        work.run();
        add(System.nanoTime() - start);
    }

    /// Runs rounds from `-warmUp` to -1, clears the samples, and runs rounds from 0 to `rounds` - 1.
    static void alternate(int warmUp, int rounds, IntConsumer round, Samples... samples) {
        for (int i = -warmUp; i < rounds; i++) {
            if (i == 0) {
                List.of(samples).forEach(Samples::clear);
            }
            round.accept(i);
        }
    }

    void clear() {
        count = 0;
    }

    int count() {
        return count;
    }

    double p50() {
        return percentile(50);
    }

    double p99() {
        return percentile(99);
    }

    /// Returns the percentile in milliseconds.
    double percentile(double percent) {
        if (count == 0) {
            return Double.NaN;
        }
        long[] sorted = Arrays.copyOf(nanos, count);
        Arrays.sort(sorted);
        int index = (int) Math.ceil(percent / 100 * count) - 1;
        return sorted[Math.max(0, index)] / (double) Duration.ofMillis(1).toNanos();
    }
}
