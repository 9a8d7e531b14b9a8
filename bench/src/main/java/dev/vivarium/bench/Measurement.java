package dev.vivarium.bench;

/// One benchmark. It sets up its environment, measures, adds its rows and removes everything it created.
@FunctionalInterface
interface Measurement {
    void run(Bench bench, Report report);
}
