package dev.vivarium.model;

import java.math.BigDecimal;

/// What one answer of a model took: tokens by kind, and what they cost. Immutable.
public record Usage(
        String model,
        long inputTokens,
        long outputTokens,
        long cacheReadTokens,
        long cacheWriteTokens,
        BigDecimal costUsd) {}
