package dev.vivarium.model;

/// Failures of the server or of a part that it depends on. Immutable.
public sealed interface ServerFailure extends Failure
        permits Failure.TooMuchInFlight,
                Failure.ShuttingDown,
                Failure.ProviderFailed,
                Failure.StoreFailed,
                Failure.ServerUnreachable,
                Failure.Internal,
                ServerFailure.InternalError {
    /// The HTTP server failed outside of every handler, with this status.
    record InternalError(int status, String sentence) implements ServerFailure {
        @Override
        public Owner owner() {
            return Owner.PLATFORM;
        }
    }
}
