package dev.vivarium.bench;

/// One program of the benchmark: sets up what it needs, measures, adds its rows and leaves nothing behind.
@FunctionalInterface
interface Measurement {
    void run(Bench bench, Report report);
}
