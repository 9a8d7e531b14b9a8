package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.run.TextListColumn;
import java.util.List;
import java.util.Optional;

/// Action of the guardian on a run. It is stored before it is done, so that a restarted server does it. Immutable.
sealed interface GuardianAction {
    /// Number of the action within its run, so that a repetition has no further effect.
    int number();

    /// Sends a message to the agent.
    record Nudge(int number, String text) implements GuardianAction {}

    /// Holds the agent and asks a person.
    record Ask(int number, String rule, String reason, String description) implements GuardianAction {}

    /// Resumes the agent after the answer of a person.
    record Release(int number) implements GuardianAction {}

    record Stop(int number, String reason) implements GuardianAction {}

    /// Returns the stored form.
    default String encoded() {
        return TextListColumn.encode(
                switch (this) {
                    case Nudge(int number, String text) -> List.of("nudge", String.valueOf(number), text);
                    case Ask(int number, String rule, String reason, String description) ->
                        List.of("ask", String.valueOf(number), rule, reason, description);
                    case Release(int number) -> List.of("release", String.valueOf(number));
                    case Stop(int number, String reason) -> List.of("stop", String.valueOf(number), reason);
                });
    }

    static Optional<GuardianAction> of(String text) {
        List<String> words = TextListColumn.decode(text);
        if (words.size() < 2) {
            return Optional.empty();
        }
        int number = Integer.parseInt(words.get(1));
        return switch (words.getFirst()) {
            case "nudge" -> Optional.of(new Nudge(number, words.get(2)));
            case "ask" -> Optional.of(new Ask(number, words.get(2), words.get(3), words.get(4)));
            case "release" -> Optional.of(new Release(number));
            case "stop" -> Optional.of(new Stop(number, words.get(2)));
            default -> Optional.empty();
        };
    }
}
