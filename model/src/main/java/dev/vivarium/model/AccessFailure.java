package dev.vivarium.model;

/// Failures of authentication and authorization: keys, tokens, origins.
public sealed interface AccessFailure extends Failure
        permits Failure.NotAuthenticated,
                Failure.NotAllowed,
                AccessFailure.TooManyTokens,
                AccessFailure.TooManyRevocations,
                AccessFailure.NoSuchKey,
                AccessFailure.WrongOrigin {
    record TooManyTokens() implements AccessFailure {
        @Override
        public String sentence() {
            return "there are too many tokens; use those there are, or retry in a minute";
        }
    }

    record TooManyRevocations() implements AccessFailure {
        @Override
        public String sentence() {
            return "this sandbox has too many revoked tokens; revoke all of them";
        }
    }

    record NoSuchKey(String id) implements AccessFailure {
        @Override
        public String sentence() {
            return "there is no key of that name";
        }
    }

    /// A page of another origin sent the request with a cookie of this server.
    record WrongOrigin() implements AccessFailure {
        @Override
        public String sentence() {
            return "with a cookie, only pages of this server itself may ask for that";
        }
    }
}
