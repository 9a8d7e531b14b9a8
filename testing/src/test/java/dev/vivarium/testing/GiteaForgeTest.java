package dev.vivarium.testing;

/// The contract of git hosts with a real Gitea.
class GiteaForgeTest extends GitForgeContract {
    @Override
    GitHost newHost() {
        return new GiteaHost();
    }
}
