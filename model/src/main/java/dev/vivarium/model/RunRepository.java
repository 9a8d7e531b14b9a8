package dev.vivarium.model;

import java.util.Optional;

/// Repository of a run, and the state of its delivery. Immutable.
///
/// @param base   branch that the work started from
/// @param branch the only branch that the run may push to
/// @param title  title of the task, for the pull request
/// @param commit last commit that the server has pushed
/// @param pull   pull request of the branch
/// @param error  why the delivery failed
public record RunRepository(
        RunId run,
        SandboxId sandbox,
        UserId owner,
        Repository repository,
        Optional<BranchName> base,
        BranchName branch,
        String title,
        Status status,
        Optional<String> commit,
        Optional<PullLink> pull,
        Optional<String> error) {
    /// State of the work.
    public enum Status implements TextEnum {
        /// The run may fetch and push.
        OPEN,
        /// The run has completed, and the server pushes its work.
        DELIVERING,
        /// The work was pushed.
        DELIVERED,
        /// The work could not be pushed.
        FAILED,
        /// The run has ended, and nothing was to be pushed.
        CLOSED
    }

    /// Number and address of a pull request.
    public record PullLink(long number, String url) {}
}
