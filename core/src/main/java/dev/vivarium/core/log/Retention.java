package dev.vivarium.core.log;

import java.time.Duration;

/// Retention limits of each log. Immutable.
///
/// @param characters size of the data, counted from the newest event
public record Retention(Duration age, long characters) {}
