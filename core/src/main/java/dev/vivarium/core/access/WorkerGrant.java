package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Instant;
import java.util.Locale;

/// What a token of the process inside is good for: one task in one sandbox, for one purpose, until it expires or the
/// sandbox ends. Never the token itself. Immutable.
///
/// @param fingerprint what logs may say of the token
public record WorkerGrant(Work work, Audience audience, Instant expires, String fingerprint) {
    /// Which task of whom, and where. Immutable.
    public record Work(SandboxId sandbox, ThreadId thread, UserId owner, TaskId task) {}

    /// What a token opens.
    public enum Audience {
        /// The worker API, for its own task.
        WORKER,
        /// The model gateway and nothing else: the agent's own programs can see it.
        MODEL;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Audience of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }

    public SandboxId sandbox() {
        return work.sandbox();
    }

    public TaskId task() {
        return work.task();
    }
}
