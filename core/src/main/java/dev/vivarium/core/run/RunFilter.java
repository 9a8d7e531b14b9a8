package dev.vivarium.core.run;

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
        Optional<Place> before,
        int limit) {
    /// Position of a run in a list, newest first.
    public record Place(long millis, String run) {
        public static Place of(Run run) {
            return new Place(run.startedAt().toEpochMilli(), run.id().value());
        }
    }
}
