package dev.vivarium.core.task;

import dev.vivarium.model.TextEnum;

/// Treatment of the tasks that depend on a cancelled task.
public enum Dependents implements TextEnum {
    CANCEL,
    /// They are blocked until the task is retried.
    KEEP
}
