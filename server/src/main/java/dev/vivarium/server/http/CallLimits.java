package dev.vivarium.server.http;

/// Limits of calls: rates of workers, concurrency per principal, and delays after failed authentications. Thread-safe.
public record CallLimits(RateLimits rates, RequestLimits requests, FailureDelays failures) {}
