package dev.vivarium.core.sandbox;

/// A clock for elapsed time: it never steps, and its zero means nothing.
@FunctionalInterface
interface Ticker {
    long nanos();
}
