package dev.vivarium.core.guest;

import java.time.Instant;

/// A process that a guest still runs from an earlier connection. Immutable.
public record Survivor(int channel, int pid, Instant started) {}
