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
                RequestFailure.BadHttp,
                RequestFailure.ClientGone {
    /// No route has that path.
    record NoSuchRoute(String why) implements RequestFailure {
        @Override
        public String sentence() {
            return why;
        }
    }

    /// The route exists, but not with that method. `Allow` lists the methods.
    record MethodNotAllowed(String why) implements RequestFailure {
        @Override
        public String sentence() {
            return why;
        }
    }

    /// The route does not accept the media type of the body.
    record UnsupportedMediaType(String why) implements RequestFailure {
        @Override
        public String sentence() {
            return why;
        }
    }

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
    record TooManyRequests(String why) implements RequestFailure {
        @Override
        public String sentence() {
            return why;
        }
    }

    /// The caller sent more requests or bytes per second than its rate allows.
    record RateLimited(String why) implements RequestFailure {
        @Override
        public String sentence() {
            return why;
        }
    }

    /// The HTTP parser rejected the request with this status.
    record BadHttp(int status, String why) implements RequestFailure {
        @Override
        public String sentence() {
            return why;
        }
    }

    /// The client closed the connection before the response.
    record ClientGone() implements RequestFailure {
        @Override
        public String sentence() {
            return "the client closed the connection before the answer";
        }
    }
}
