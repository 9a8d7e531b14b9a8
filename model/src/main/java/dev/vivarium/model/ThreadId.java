package dev.vivarium.model;

/// Name of a conversation, chosen by the client. It identifies the sandbox across requests. Immutable.
public record ThreadId(String value) {
    public ThreadId {
        value = Names.checked("thread_id", value);
    }

    @Override
    public String toString() {
        return value;
    }
}
