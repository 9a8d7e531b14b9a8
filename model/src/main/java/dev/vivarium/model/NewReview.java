package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.model.Failure.InvalidRequest.requireBytes;

import java.util.List;

/// Question of an agent to a person. Immutable.
///
/// @param context  information for the decision, a JSON object as text
/// @param options  decisions besides `reject`; `approve` if empty
/// @param blocking whether the agent waits for the answer
public record NewReview(String reason, String description, String context, List<String> options, boolean blocking) {
    private static final int MAX_REASON = 200;
    private static final int MAX_DESCRIPTION = 10 * 1024;
    private static final int MAX_CONTEXT = 64 * 1024;
    private static final int MAX_OPTIONS = 50;

    public NewReview {
        options = List.copyOf(options);
        reason = PlainText.of(reason);
        description = PlainText.of(description);
        require(!reason.isBlank(), "reason", "must not be empty");
        require(reason.length() <= MAX_REASON, "reason", "must be at most " + MAX_REASON + " characters");
        requireBytes(description, "description", MAX_DESCRIPTION);
        requireBytes(context, "context", MAX_CONTEXT);
        require(options.size() <= MAX_OPTIONS, "context.options", "must be at most " + MAX_OPTIONS);
        for (String option : options) {
            require(
                    option.matches("[\\x21-\\x7e]{1,100}"),
                    "context.options",
                    "must have ids of 1 to 100 printable characters without a space");
        }
    }
}
