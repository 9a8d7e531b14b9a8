package dev.vivarium.server.git;

import static dev.vivarium.server.git.ForgeApi.escaped;
import static dev.vivarium.server.git.ForgeApi.escapedPath;

import dev.vivarium.core.git.Forge;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitBranch;
import dev.vivarium.model.GitCommit;
import dev.vivarium.model.GitComparison;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.PullRequest;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.Optional;

/// API of Gitea, and of Forgejo. Thread-safe.
final class GiteaForge implements Forge {
    private static final String SIZE = "limit";
    private static final int MAX_OPEN = 1000;

    private final ForgeApi api;

    GiteaForge(ForgeApi api) {
        this.api = api;
    }

    @Override
    public BranchName defaultBranch() {
        return api.read(api.get("", "the repository"), fields -> new BranchName(fields.string("default_branch")));
    }

    @Override
    public List<GitBranch> branches(int limit) {
        return api.list("/branches", SIZE, limit, fields -> ForgeApi.branch(fields, "id"));
    }

    @Override
    public void deleteBranch(BranchName branch) {
        api.send("DELETE", "/branches/" + escapedPath(branch.value()), Optional.empty(), "the branch " + branch);
    }

    @Override
    public List<GitCommit> commits(Optional<BranchName> branch, int limit) {
        branch.ifPresent(this::requireBranch);
        String query = "?stat=false&verification=false&files=false"
                + branch.map(name -> "&sha=" + escaped(name.value())).orElse("");
        return api.list("/commits" + query, SIZE, limit, ForgeApi::commit);
    }

    /// Asks git and not the API: Gitea adds a branch to its database a moment after the push.
    private void requireBranch(BranchName branch) {
        if (!api.remote().refs().has(branch)) {
            throw ForgeApi.missing("the branch " + branch);
        }
    }

    @Override
    public GitComparison compare(BranchName base, BranchName head) {
        requireBranch(base);
        requireBranch(head);
        String range = escapedPath(base.value()) + "..." + escapedPath(head.value());
        return api.read(api.get("/compare/" + range, "the range " + range), fields -> comparison(fields, base, head));
    }

    private static GitComparison comparison(JsonFields fields, BranchName base, BranchName head) {
        List<JsonFields> commits = fields.findObjects("commits");
        List<String> files = commits.stream()
                .flatMap(commit -> commit.findObjects("files").stream())
                .map(file -> file.string("filename"))
                .distinct()
                .sorted()
                .toList();
        return new GitComparison(
                base.value(),
                head.value(),
                fields.optionalInteger("total_commits").orElse((long) commits.size()),
                commits.stream().map(ForgeApi::commit).toList(),
                files);
    }

    @Override
    public List<PullRequest> pulls(PullRequest.Filter filter, int limit) {
        return api.list("/pulls?state=" + filter.text(), SIZE, limit, ForgeApi::pull);
    }

    @Override
    public PullRequest pull(long number) {
        return api.read(api.get("/pulls/" + number, "pull request " + number), ForgeApi::pull);
    }

    @Override
    public Optional<PullRequest> findOpen(BranchName head, BranchName base) {
        return pulls(PullRequest.Filter.OPEN, MAX_OPEN).stream()
                .filter(pull -> pull.head().equals(head.value()) && pull.base().equals(base.value()))
                .findFirst();
    }

    @Override
    public PullRequest open(NewPull wanted) {
        requireBranch(wanted.base());
        requireBranch(wanted.head());
        try {
            return api.read(send(wanted), ForgeApi::pull);
        } catch (SandboxException e) {
            // Both branches exist, so Gitea has not added them to its database yet.
            throw e.failure() instanceof GitFailure.NotOnRemote
                    ? api.remote().failed("it has not processed the push of " + wanted.head() + " yet")
                    : e;
        }
    }

    private String send(NewPull wanted) {
        return api.send(
                "POST",
                "/pulls",
                Optional.of(out -> {
                    out.writeStringProperty("title", wanted.title());
                    out.writeStringProperty("body", wanted.body());
                    out.writeStringProperty("head", wanted.head().value());
                    out.writeStringProperty("base", wanted.base().value());
                }),
                "the repository");
    }

    @Override
    public PullRequest merge(long number, PullRequest.Merge method) {
        api.send(
                "POST",
                "/pulls/" + number + "/merge",
                Optional.of(out -> out.writeStringProperty("Do", method.text())),
                "pull request " + number);
        return pull(number);
    }
}
