package dev.vivarium.server.git;

import dev.vivarium.core.git.Forge;
import dev.vivarium.core.git.Remote;
import dev.vivarium.model.SandboxException;
import java.util.List;

/// Maker of the APIs of git hosts. Stateless.
public final class Forges implements Forge.Factory {
    @Override
    public Forge of(Remote remote) {
        List<String> segments = remote.url().segments();
        if (segments.size() < 2) {
            throw SandboxException.invalid("repository.url", "must have an owner and a name for this request");
        }
        String repository = "/repos/" + String.join("/", segments.subList(segments.size() - 2, segments.size()));
        List<String> above = segments.subList(0, segments.size() - 2);
        String root = above.isEmpty() ? "" : "/" + String.join("/", above);
        return switch (remote.credential().forge()) {
            case GITEA -> new GiteaForge(new ForgeApi(remote, root + "/api/v1" + repository));
            case GITHUB ->
                new GitHubForge(new ForgeApi(remote, (remote.isGitHub() ? "" : root + "/api/v3") + repository));
            case NONE ->
                throw SandboxException.invalid(
                        "credential", "has the forge none; this request needs the API of GitHub or Gitea");
        };
    }
}
