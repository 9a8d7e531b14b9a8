package dev.vivarium.model;

/// The name of a conversation, chosen by the caller: the key under which a sandbox is found again. Immutable.
public record ThreadId(String value) {
    public ThreadId {
        value = Names.checked("thread_id", value);
    }

    @Override
    public String toString() {
        return value;
    }
}
