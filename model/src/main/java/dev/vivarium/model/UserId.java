package dev.vivarium.model;

/// The name of a user, chosen by the caller; threads belong to one. Immutable.
public record UserId(String value) {
    public UserId {
        value = Names.checked("user_id", value);
    }

    @Override
    public String toString() {
        return value;
    }
}
