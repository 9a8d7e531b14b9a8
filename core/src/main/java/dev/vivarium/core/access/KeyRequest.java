package dev.vivarium.core.access;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.Optional;

/// Request for an API key. Immutable.
///
/// @param label purpose of the key, for people
/// @param expiresAt when the key becomes invalid; never if empty
public record KeyRequest(UserId user, Optional<String> label, Optional<Instant> expiresAt) {
    public static final int MAX_LABEL = 100;

    /// Latest expiry. Stores and clients do not support later years.
    private static final Instant MAX_EXPIRY = Instant.parse("9999-12-31T23:59:59Z");

    /// A key without a label that does not expire.
    public static KeyRequest of(UserId user) {
        return new KeyRequest(user, Optional.empty(), Optional.empty());
    }

    void check(Instant now) {
        label.ifPresent(text -> require(
                !text.isBlank() && text.length() <= MAX_LABEL && text.chars().noneMatch(Character::isISOControl),
                "label",
                "must have 1 to " + MAX_LABEL + " characters, none of them a control character"));
        expiresAt.ifPresent(at -> require(
                at.isAfter(now) && !at.isAfter(MAX_EXPIRY),
                "expires_at",
                "must be in the future and before the year 10000; the time is now " + now));
    }
}
