package dev.vivarium.core.git;

import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitBranch;
import dev.vivarium.model.GitCommit;
import dev.vivarium.model.GitComparison;
import dev.vivarium.model.PullRequest;
import java.util.List;
import java.util.Optional;

/// API of a git host for one repository. Implementations are thread-safe.
///
/// Every method fails with `not-on-remote` if the branch or the pull request does not exist, with `remote-refused` if
/// the host refuses the request, and with `remote-failed` or `remote-timed-out` if the host does not work.
public interface Forge {
    /// Pull request to open. Immutable.
    ///
    /// @param head branch with the changes
    /// @param base branch that receives the changes
    record NewPull(String title, String body, BranchName head, BranchName base) {}

    /// Maker of the API of a remote.
    @FunctionalInterface
    interface Factory {
        /// Fails with `InvalidRequest` if the host of the remote has no API.
        Forge of(Remote remote);
    }

    BranchName defaultBranch();

    List<GitBranch> branches(int limit);

    void deleteBranch(BranchName branch);

    /// Returns the newest commits of a branch, or of the default branch.
    List<GitCommit> commits(Optional<BranchName> branch, int limit);

    GitComparison compare(BranchName base, BranchName head);

    List<PullRequest> pulls(PullRequest.Filter filter, int limit);

    PullRequest pull(long number);

    /// Returns the open pull request between two branches.
    Optional<PullRequest> findOpen(BranchName head, BranchName base);

    PullRequest open(NewPull wanted);

    /// Merges a pull request. Fails with `remote-refused` if it cannot be merged.
    PullRequest merge(long number, PullRequest.Merge method);
}
