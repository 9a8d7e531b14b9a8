package dev.vivarium.testing;

/// The contract of git hosts with a stand-in for GitHub.
class GitHubForgeTest extends GitForgeContract {
    @Override
    GitHost newHost() {
        return new GitHubStandIn();
    }
}
