package dev.vivarium.core.run;

import dev.vivarium.model.ListPlace;
import dev.vivarium.model.Run;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.util.Optional;

/// Filter for a list of runs. Immutable.
///
/// @param before position of the last run of the previous page
public record RunFilter(
        Optional<UserId> owner,
        Optional<ThreadId> thread,
        Optional<TaskId> task,
        Optional<Run.Status> status,
        Optional<ListPlace> before,
        int limit) {
    /// Returns the position of a run in a list.
    public static ListPlace place(Run run) {
        return ListPlace.of(run.startedAt(), run.id().value());
    }
}
