package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

/// Judgement of a model about the work of an agent. Immutable.
///
/// @param alignment  how well the work serves the task, 0 to 1
/// @param message    advice for the agent, at most [#LONGEST] characters
/// @param confidence confidence of the model in its judgement, 0 to 1
public record Judgement(double alignment, State state, String message, double confidence) {
    public static final int LONGEST = 500;

    /// State of the work.
    public enum State implements TextEnum {
        ON_TRACK,
        DRIFTING,
        STUCK,
        DONE
    }

    public Judgement {
        require(alignment >= 0 && alignment <= 1, "alignment", "must be 0 to 1");
        require(confidence >= 0 && confidence <= 1, "confidence", "must be 0 to 1");
        require(message.length() <= LONGEST, "message", "must be at most " + LONGEST + " characters");
    }
}
