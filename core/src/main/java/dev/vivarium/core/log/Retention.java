package dev.vivarium.core.log;

import java.time.Duration;

/// How much of each sandbox's log is kept. Immutable.
///
/// @param characters of data, counted from the newest event
public record Retention(Duration age, long characters) {}
