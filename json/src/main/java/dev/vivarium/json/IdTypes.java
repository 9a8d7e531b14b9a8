package dev.vivarium.json;

import dev.vivarium.model.ReviewId;
import dev.vivarium.model.RunId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SnapshotId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;

/// JSON forms of identifiers. Stateless.
public final class IdTypes {
    public static final JsonType<UserId> USER_ID = JsonType.STRING.as(UserId::new, UserId::value);
    public static final JsonType<ThreadId> THREAD_ID = JsonType.STRING.as(ThreadId::new, ThreadId::value);
    public static final JsonType<SandboxId> SANDBOX_ID = JsonType.STRING.as(SandboxId::new, SandboxId::value);
    public static final JsonType<SandboxId> SESSION_ID = SANDBOX_ID
            .with("description", "The id of the sandbox.")
            .with("pattern", "^sbx[a-z0-9]{20}$")
            .named("SessionId");
    public static final JsonType<SnapshotId> SNAPSHOT_ID = JsonType.STRING.as(SnapshotId::new, SnapshotId::value);
    public static final JsonType<TaskId> TASK_ID = JsonType.STRING.as(TaskId::new, TaskId::value);
    public static final JsonType<RunId> RUN_ID = JsonType.STRING.as(RunId::new, RunId::value);
    public static final JsonType<ReviewId> REVIEW_ID = JsonType.STRING.as(ReviewId::new, ReviewId::value);

    private IdTypes() {}
}
