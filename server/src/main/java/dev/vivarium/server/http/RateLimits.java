package dev.vivarium.server.http;

import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.model.RequestFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.settings.RateConfig;
import dev.vivarium.server.settings.RateConfig.Kind;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;

/// Rate limits for the worker of a sandbox, per kind of call and for the bytes of events. Thread-safe.
///
/// Clients with keys have no rate limit, because their keys can be revoked. A worker may run untrusted code. Each kind
/// has a token bucket with the calls of one minute, which refills evenly. A worker above the limit therefore waits for
/// one call, not for a whole minute.
public final class RateLimits implements SandboxListener {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final RateConfig config;
    private final TimeMeter clock;
    private final Map<Key, Bucket> buckets = new ConcurrentHashMap<>();

    private record Key(SandboxId sandbox, Kind kind) {}

    private record Clock(LongSupplier nanos) implements TimeMeter {
        @Override
        public long currentTimeNanos() {
            return nanos.getAsLong();
        }

        @Override
        public boolean isWallClockBased() {
            return false;
        }
    }

    public RateLimits(RateConfig config) {
        this.config = config;
        this.clock = new Clock(config.nanos());
    }

    private static Kind kind(Route route) {
        String template = route.template();
        if (template.endsWith("/events") && route.method().equals("POST")) {
            return Kind.EVENTS;
        }
        if (template.endsWith("/messages") && route.method().equals("GET")) {
            return Kind.MESSAGES;
        }
        return template.endsWith("/heartbeat") ? Kind.HEARTBEATS : Kind.OTHERS;
    }

    /// State of a limit after a call. Immutable.
    ///
    /// @param isAllowed whether the server may handle the call
    /// @param retryAfter time until the next call is allowed
    /// @param reset time until the full limit is available
    record Standing(Kind kind, long limit, long remaining, boolean isAllowed, Duration retryAfter, Duration reset) {
        /// Adds the headers of the current IETF draft, and those of earlier drafts that many clients still
        /// read. Throws `RateLimited` if the call exceeds the limit.
        void apply(HttpFields.Mutable headers) {
            headers.put("RateLimit-Policy", "\"" + kind.text() + "\";q=" + limit + ";w=" + WINDOW.toSeconds());
            headers.put("RateLimit", "\"" + kind.text() + "\";r=" + remaining + ";t=" + seconds(reset));
            headers.put("RateLimit-Limit", limit);
            headers.put("RateLimit-Remaining", remaining);
            headers.put("RateLimit-Reset", seconds(reset));
            if (!isAllowed) {
                headers.put(HttpHeader.RETRY_AFTER, Math.max(1, seconds(retryAfter)));
                throw new SandboxException(new RequestFailure.RateLimited(sentence()));
            }
        }

        private String sentence() {
            String max = kind == Kind.EVENT_BYTES
                    ? "send " + limit + " bytes of events"
                    : "call " + kind.text() + " " + limit + " times";
            return "the worker may " + max + " a minute; wait as long as Retry-After says";
        }

        private static long seconds(Duration time) {
            return (time.toNanos() + SECOND - 1) / SECOND;
        }
    }

    /// Counts a call of the sandbox's worker. Returns nothing if no limit applies.
    Optional<Standing> count(SandboxId sandbox, Route route) {
        return count(sandbox, kind(route), 1);
    }

    /// Counts the bytes of a call. Returns nothing if no limit applies.
    Optional<Standing> countBytes(SandboxId sandbox, Route route, int bytes) {
        return kind(route) == Kind.EVENTS && bytes > 0 ? count(sandbox, Kind.EVENT_BYTES, bytes) : Optional.empty();
    }

    /// Counts a model call. Returns the time to wait if the call exceeds the limit.
    public Optional<Duration> ask(SandboxId sandbox) {
        return count(sandbox, Kind.MODELS, 1)
                .filter(standing -> !standing.isAllowed())
                .map(Standing::retryAfter);
    }

    /// Returns the count of a poll for messages.
    public void refundPoll(SandboxId sandbox) {
        Bucket bucket = buckets.get(new Key(sandbox, Kind.MESSAGES));
        if (bucket != null) {
            bucket.addTokens(1);
        }
    }

    private Optional<Standing> count(SandboxId sandbox, Kind kind, long tokens) {
        if (!config.isOn()) {
            return Optional.empty();
        }
        long limit = Objects.requireNonNull(config.limits().get(kind));
        ConsumptionProbe probe = buckets.computeIfAbsent(new Key(sandbox, kind), _ -> bucket(limit))
                .tryConsumeAndReturnRemaining(tokens);
        return Optional.of(new Standing(
                kind,
                limit,
                probe.getRemainingTokens(),
                probe.isConsumed(),
                Duration.ofNanos(probe.getNanosToWaitForRefill()),
                Duration.ofNanos(probe.getNanosToWaitForReset())));
    }

    /// Removes the limits of a sandbox that has ended.
    @Override
    public void ended(SandboxInfo sandbox) {
        for (Kind kind : Kind.values()) {
            buckets.remove(new Key(sandbox.id(), kind));
        }
    }

    private Bucket bucket(long limit) {
        return Bucket.builder()
                .addLimit(bandwidth -> bandwidth.capacity(limit).refillGreedy(limit, WINDOW))
                .withCustomTimePrecision(clock)
                .build();
    }
}
