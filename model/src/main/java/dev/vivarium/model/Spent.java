package dev.vivarium.model;

import java.math.BigDecimal;

/// Resource usage of a run so far. Immutable.
public record Spent(
        long inputTokens,
        long outputTokens,
        long cacheReadTokens,
        long cacheWriteTokens,
        long toolCalls,
        BigDecimal costUsd) {
    public static final Spent NOTHING = new Spent(0, 0, 0, 0, 0, BigDecimal.ZERO);

    /// Returns the sum of all token counts.
    public long tokens() {
        return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
    }
}
