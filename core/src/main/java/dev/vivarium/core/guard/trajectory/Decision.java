package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.GuardianEvent;
import dev.vivarium.model.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Result of a decision of the guardian: the new ladder, events for the log, and an act. Immutable.
record Decision(Ladder ladder, List<Noted> events, Optional<GuardianAction> action) {
    /// An event before it belongs to a run.
    sealed interface Noted {
        record Found(GuardianEvent.Pattern pattern, GuardianEvent.Action action) implements Noted {}

        record Outcome(GuardianEvent.Pattern pattern, boolean ended) implements Noted {}
    }

    Decision {
        events = List.copyOf(events);
    }

    static Decision nothing(Ladder ladder) {
        return new Decision(ladder, List.of(), Optional.empty());
    }

    boolean isNothing() {
        return events.isEmpty() && action.isEmpty();
    }

    /// Returns the same decision with an event before the others.
    Decision after(Noted event) {
        var all = new ArrayList<Noted>();
        all.add(event);
        all.addAll(events);
        return new Decision(ladder, all, action);
    }

    List<GuardianEvent> events(Run run) {
        return events.stream()
                .<GuardianEvent>map(event -> switch (event) {
                    case Noted.Found(var pattern, var action) ->
                        new GuardianEvent.Found(run.id(), run.task(), pattern, action);
                    case Noted.Outcome(var pattern, boolean ended) ->
                        new GuardianEvent.Outcome(run.id(), run.task(), pattern, ended);
                })
                .toList();
    }
}
