package dev.vivarium.model;

import java.math.BigDecimal;

/// Tokens and cost of one model response. Immutable.
public record Usage(
        String model,
        long inputTokens,
        long outputTokens,
        long cacheReadTokens,
        long cacheWriteTokens,
        BigDecimal costUsd) {}
