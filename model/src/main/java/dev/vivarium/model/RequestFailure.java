package dev.vivarium.model;

import java.time.Duration;

/// Failures of any request, independent of its route. Immutable.
public sealed interface RequestFailure extends Failure
        permits Failure.InvalidRequest,
                Failure.BodyTooLarge,
                Failure.Unsupported,
                RequestFailure.NoSuchRoute,
                RequestFailure.MethodNotAllowed,
                RequestFailure.UnsupportedMediaType,
                RequestFailure.UpgradeRequired,
                RequestFailure.RequestTimeout,
                RequestFailure.TooManyRequests,
                RequestFailure.RateLimited,
                RequestFailure.IdempotencyKeyReused,
                RequestFailure.IdempotencyConflict,
                RequestFailure.BadHttp,
                RequestFailure.ClientGone {
    /// No route has that path.
    record NoSuchRoute(String sentence) implements RequestFailure {}

    /// The route exists, but not with that method. `Allow` lists the methods.
    record MethodNotAllowed(String sentence) implements RequestFailure {}

    /// The route does not accept the media type of the body.
    record UnsupportedMediaType(String sentence) implements RequestFailure {}

    /// The route accepts only WebSocket connections.
    record UpgradeRequired() implements RequestFailure {
        @Override
        public String sentence() {
            return "connect to this path with a WebSocket";
        }
    }

    /// The body did not arrive within the time limit.
    record RequestTimeout(Duration limit) implements RequestFailure {
        @Override
        public String sentence() {
            return "the body did not arrive within " + limit.toSeconds() + " s";
        }
    }

    /// The caller has too many requests in progress.
    record TooManyRequests(String sentence) implements RequestFailure {}

    /// The caller sent more requests or bytes per second than its rate allows.
    record RateLimited(String sentence) implements RequestFailure {}

    /// Another request had this `Idempotency-Key`.
    record IdempotencyKeyReused(String sentence) implements RequestFailure {
        public static IdempotencyKeyReused ofRoute() {
            return new IdempotencyKeyReused("the Idempotency-Key was used for another route; choose a new key");
        }

        public static IdempotencyKeyReused ofBody() {
            return new IdempotencyKeyReused(
                    "the Idempotency-Key was used for a request with another body; choose a new key");
        }
    }

    /// The first request with this `Idempotency-Key` has no answer that the server can repeat. The server did not
    /// run the request again.
    record IdempotencyConflict(String sentence) implements RequestFailure {
        public static IdempotencyConflict inProgress() {
            return new IdempotencyConflict("a request with this Idempotency-Key is in progress; try again later");
        }

        public static IdempotencyConflict unknown() {
            return new IdempotencyConflict("the first request with this Idempotency-Key did not end, so its effect is"
                    + " unknown; check the sandbox, then choose a new key");
        }

        public static IdempotencyConflict notKept() {
            return new IdempotencyConflict("the first request with this Idempotency-Key is complete, but its answer"
                    + " was too large to keep; choose a new key to run it again");
        }
    }

    /// The HTTP parser rejected the request with this status.
    record BadHttp(int status, String sentence) implements RequestFailure {}

    /// The client closed the connection before the response.
    record ClientGone() implements RequestFailure {
        @Override
        public String sentence() {
            return "the client closed the connection before the answer";
        }
    }
}
