package dev.vivarium.model;

/// Name of a user, chosen by the client. A thread belongs to one user. Immutable.
public record UserId(String value) {
    public UserId {
        value = Names.checked("user_id", value);
    }

    @Override
    public String toString() {
        return value;
    }
}
