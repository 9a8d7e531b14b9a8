package dev.vivarium.bench;

/// One benchmark, which sets up its environment, measures, adds its rows and removes everything it created. Confined to
/// one thread.
@FunctionalInterface
interface Measurement {
    void run(Bench bench, Report report);
}
