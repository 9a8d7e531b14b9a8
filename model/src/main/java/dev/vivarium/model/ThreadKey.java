package dev.vivarium.model;

/// Identity of a thread: its name and the user who owns it. Two users may have threads of the same name. Immutable.
public record ThreadKey(UserId user, ThreadId thread) {
    @Override
    public String toString() {
        return thread + " of " + user;
    }
}
