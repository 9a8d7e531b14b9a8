package dev.vivarium.model;

/// Failures of authentication and authorization: keys, tokens, origins. Immutable.
public sealed interface AccessFailure extends Failure
        permits Failure.NotAuthenticated,
                Failure.NotAllowed,
                AccessFailure.TooManyTokens,
                AccessFailure.TooManyRevocations,
                AccessFailure.NoSuchKey,
                AccessFailure.WrongOrigin {
    /// The server holds the maximum number of opaque tokens.
    record TooManyTokens() implements AccessFailure {
        @Override
        public String sentence() {
            return "the server has the maximum number of tokens; use an existing token, or retry in a minute";
        }
    }

    /// The sandbox has the maximum number of revoked tokens.
    record TooManyRevocations() implements AccessFailure {
        @Override
        public String sentence() {
            return "this sandbox has too many revoked tokens; revoke all of them";
        }
    }

    /// No API key has that id.
    record NoSuchKey(String id) implements AccessFailure {
        @Override
        public String sentence() {
            return "there is no key with that id";
        }
    }

    /// A page of another origin sent the request with a cookie of this server.
    record WrongOrigin() implements AccessFailure {
        @Override
        public String sentence() {
            return "only pages of this server may send this request with a cookie";
        }
    }
}
