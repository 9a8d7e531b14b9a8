package dev.vivarium.model;

/// Name of a conversation, chosen by the client. Unique among the threads of one user; see [ThreadKey]. Immutable.
public record ThreadId(String value) {
    public ThreadId {
        value = Names.checked("thread_id", value);
    }

    @Override
    public String toString() {
        return value;
    }
}
