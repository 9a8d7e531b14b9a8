package dev.vivarium.model;

import java.util.List;

/// Events of the guardian, in the log of the sandbox. Immutable.
public sealed interface GuardianEvent extends EventBody {
    /// Action of the guardian about a finding.
    enum Action implements TextEnum {
        NONE,
        NUDGE,
        PAUSE,
        STOP
    }

    /// A pattern in the trajectory of a run.
    ///
    /// @param rule     name of the rule
    /// @param summary  sentence for people
    /// @param evidence numbers of the events, newest last
    record Pattern(String rule, String summary, List<Long> evidence) {
        public Pattern {
            evidence = List.copyOf(evidence);
        }
    }

    /// The guardian found a pattern. The type follows from the action.
    record Found(RunId run, TaskId task, Pattern pattern, Action action) implements GuardianEvent {}

    /// Whether a pattern ended after a nudge, or after the answer of a person.
    record Outcome(RunId run, TaskId task, Pattern pattern, boolean ended) implements GuardianEvent {}

    /// The judgement of a model about the trajectory of a run.
    record Judged(RunId run, TaskId task, Judgement judgement) implements GuardianEvent {}

    @Override
    default String type() {
        return switch (this) {
            case Found found ->
                switch (found.action) {
                    case NONE -> "guardian.observed";
                    case NUDGE -> "guardian.nudged";
                    case PAUSE -> "guardian.paused";
                    case STOP -> "guardian.stopped";
                };
            case Outcome _ -> "guardian.outcome";
            case Judged _ -> "guardian.judged";
        };
    }
}
