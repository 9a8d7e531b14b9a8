package dev.vivarium.model;

import java.util.List;

/// Graph of tasks in which tasks wait and none can move. Immutable.
///
/// @param owner   owner of the tasks
/// @param lost    failed and cancelled tasks that others wait for
/// @param waiting number of tasks that cannot start
public record StuckWorkflow(UserId owner, List<Lost> lost, int waiting) {
    private static final int NAMED = 5;

    public StuckWorkflow {
        lost = List.copyOf(lost);
    }

    /// Task that others wait for.
    ///
    /// @param reason of its status
    /// @param events last events of its newest attempt, oldest first
    public record Lost(TaskId task, String title, Task.Status status, String reason, List<Event> events) {
        public Lost {
            events = List.copyOf(events);
        }

        private String sentence() {
            return task + " (" + title + ") " + (status == Task.Status.FAILED ? "failed" : "was cancelled")
                    + (reason.isBlank() ? "" : ": " + reason);
        }
    }

    /// Returns why no task can move, as a sentence.
    public String reason() {
        var named = lost.stream().limit(NAMED).map(Lost::sentence).toList();
        String more = lost.size() > NAMED ? "; and " + (lost.size() - NAMED) + " more" : "";
        return String.join("; ", named) + more + ". " + waiting + (waiting == 1 ? " task waits" : " tasks wait")
                + " for this";
    }

    public List<TaskId> lostIds() {
        return lost.stream().map(Lost::task).toList();
    }
}
