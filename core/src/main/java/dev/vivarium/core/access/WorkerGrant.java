package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Instant;

/// Content of a worker token: one task in one sandbox, one audience, and an expiry. Never the token itself. Immutable.
///
/// @param fingerprint loggable prefix of the token's hash
public record WorkerGrant(Work work, Audience audience, Instant expires, String fingerprint) {
    /// A task with its sandbox, thread and owner. Immutable.
    public record Work(SandboxId sandbox, ThreadId thread, UserId owner, TaskId task) {}

    /// API that a token is valid for.
    public enum Audience implements TextEnum {
        /// The worker API, for the token's own task.
        WORKER,
        /// The model gateway only. Programs of the agent can read this token.
        MODEL
    }

    public SandboxId sandbox() {
        return work.sandbox();
    }

    public TaskId task() {
        return work.task();
    }
}
