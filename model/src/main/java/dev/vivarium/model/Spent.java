package dev.vivarium.model;

import java.math.BigDecimal;

/// What a run has used so far. Immutable.
public record Spent(
        long inputTokens,
        long outputTokens,
        long cacheReadTokens,
        long cacheWriteTokens,
        long toolCalls,
        BigDecimal costUsd) {
    public static final Spent NOTHING = new Spent(0, 0, 0, 0, 0, BigDecimal.ZERO);

    /// All tokens, of whatever kind.
    public long tokens() {
        return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
    }
}
