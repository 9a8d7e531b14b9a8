package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.model.Failure.InvalidRequest.requireBytes;

import java.util.List;
import java.util.Optional;

/// Question of an agent to a person. Immutable.
///
/// @param context  information for the decision, a JSON object as text
/// @param options  decisions besides `reject`; `approve` if empty
/// @param blocking whether the agent waits for the answer
/// @param policy   what happens without an answer
public record NewReview(
        String reason,
        String description,
        String context,
        List<String> options,
        boolean blocking,
        ReviewPolicy policy) {
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
        require(
                options.isEmpty()
                        || policy.onTimeout()
                                .filter(ReviewPolicy.OnTimeout.APPROVE::equals)
                                .isEmpty(),
                "on_timeout",
                "must not be approve if the review has options");
    }

    /// A question with the default policy.
    public NewReview(String reason, String description, String context, List<String> options, boolean blocking) {
        this(reason, description, context, options, blocking, ReviewPolicy.NONE);
    }

    /// Returns the question, limited by the policy of its task: if the task has another action, the agent cannot
    /// choose an approval by the server.
    public NewReview limitedBy(ReviewPolicy ofTask) {
        boolean isWeaker = policy.onTimeout()
                        .filter(ReviewPolicy.OnTimeout.APPROVE::equals)
                        .isPresent()
                && ofTask.onTimeout()
                        .filter(action -> action != ReviewPolicy.OnTimeout.APPROVE)
                        .isPresent();
        return isWeaker
                ? new NewReview(
                        reason,
                        description,
                        context,
                        options,
                        blocking,
                        new ReviewPolicy(policy.timeout(), ofTask.onTimeout()))
                : this;
    }

    /// Returns the question with the values of a policy that it does not have itself. A review with options is
    /// never approved by the server, because the server cannot choose one.
    public NewReview withDefaults(ReviewPolicy standard) {
        boolean isApproval = !options.isEmpty()
                && standard.onTimeout()
                        .filter(ReviewPolicy.OnTimeout.APPROVE::equals)
                        .isPresent();
        var fitting = isApproval
                ? new ReviewPolicy(standard.timeout(), Optional.of(ReviewPolicy.OnTimeout.REJECT))
                : standard;
        return new NewReview(reason, description, context, options, blocking, policy.orElse(fitting));
    }
}
