package dev.vivarium.sdk.engine;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadId;

/// A thread's sandbox as it was when the client asked for it. Immutable.
public record Session(SandboxInfo info, Origin origin) {
    /// Where a session came from.
    public enum Origin {
        /// It is new: its workspace is empty.
        CREATED,
        /// It was there already, with its files.
        EXISTING
    }

    public SandboxId id() {
        return info.id();
    }

    public ThreadId thread() {
        return info.thread();
    }

    public boolean isNew() {
        return origin == Origin.CREATED;
    }
}
