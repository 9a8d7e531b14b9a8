package dev.vivarium.model;

import java.util.Optional;

/// Pull request on a forge. Immutable.
///
/// @param head      branch with the changes
/// @param base      branch that receives the changes
/// @param mergeable absent while the forge computes it
public record PullRequest(
        long number,
        String title,
        String body,
        State state,
        String head,
        String base,
        String author,
        String url,
        Optional<Boolean> mergeable,
        Optional<String> mergeCommit) {
    /// State of a pull request.
    public enum State implements TextEnum {
        OPEN,
        CLOSED,
        MERGED
    }

    /// How a forge merges a pull request.
    public enum Merge implements TextEnum {
        MERGE,
        SQUASH,
        REBASE
    }

    /// Filter of a list.
    public enum Filter implements TextEnum {
        OPEN,
        CLOSED,
        ALL
    }
}
