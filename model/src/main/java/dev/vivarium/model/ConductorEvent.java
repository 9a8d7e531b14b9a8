package dev.vivarium.model;

import java.util.List;

/// Events of the conductor, in the log of the tasks of a user. Immutable.
public sealed interface ConductorEvent extends EventBody {
    /// How the active runs of a user fit together.
    ///
    /// @param runs      number of active runs
    /// @param coherence share of the runs without an overlap, 0 to 1
    record Report(int runs, double coherence, List<Overlap> overlaps) implements ConductorEvent {
        public Report {
            overlaps = List.copyOf(overlaps);
        }
    }

    /// Two runs that do the same work or change the same files.
    ///
    /// @param files files that both runs changed
    record Overlap(Kind kind, RunId earlier, RunId later, String summary, List<String> files) {
        public Overlap {
            files = List.copyOf(files);
        }
    }

    /// Kind of an overlap.
    enum Kind implements TextEnum {
        DUPLICATE,
        CONFLICT
    }

    @Override
    default String type() {
        return switch (this) {
            case Report _ -> "conductor.report";
        };
    }
}
