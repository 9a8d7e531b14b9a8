package dev.vivarium.server.git;

import static dev.vivarium.server.git.ForgeApi.escaped;
import static dev.vivarium.server.git.ForgeApi.escapedPath;

import dev.vivarium.core.git.Forge;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitBranch;
import dev.vivarium.model.GitCommit;
import dev.vivarium.model.GitComparison;
import dev.vivarium.model.PullRequest;
import java.util.List;
import java.util.Optional;

/// REST API of GitHub, version 2022-11-28. Thread-safe.
final class GitHubForge implements Forge {
    private static final String SIZE = "per_page";

    private final ForgeApi api;

    GitHubForge(ForgeApi api) {
        this.api = api;
    }

    @Override
    public BranchName defaultBranch() {
        return api.read(api.get("", "the repository"), fields -> new BranchName(fields.string("default_branch")));
    }

    @Override
    public List<GitBranch> branches(int limit) {
        return api.list("/branches", SIZE, limit, fields -> ForgeApi.branch(fields, "sha"));
    }

    private void requireBranch(BranchName branch) {
        var _ = api.get("/branches/" + escapedPath(branch.value()), "the branch " + branch);
    }

    @Override
    public void deleteBranch(BranchName branch) {
        // GitHub answers 422 for an unknown reference.
        requireBranch(branch);
        api.send("DELETE", "/git/refs/heads/" + escapedPath(branch.value()), Optional.empty(), "the branch " + branch);
    }

    @Override
    public List<GitCommit> commits(Optional<BranchName> branch, int limit) {
        branch.ifPresent(this::requireBranch);
        String query = branch.map(name -> "?sha=" + escaped(name.value())).orElse("");
        return api.list("/commits" + query, SIZE, limit, ForgeApi::commit);
    }

    @Override
    public GitComparison compare(BranchName base, BranchName head) {
        requireBranch(base);
        requireBranch(head);
        String range = escapedPath(base.value()) + "..." + escapedPath(head.value());
        return api.read(api.get("/compare/" + range, "the range " + range), fields -> comparison(fields, base, head));
    }

    private static GitComparison comparison(JsonFields fields, BranchName base, BranchName head) {
        return new GitComparison(
                base.value(),
                head.value(),
                fields.integer("ahead_by"),
                fields.findObjects("commits").stream().map(ForgeApi::commit).toList(),
                fields.findObjects("files").stream()
                        .map(file -> file.string("filename"))
                        .sorted()
                        .toList());
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
        String query = "?state=open&head=" + escaped(api.owner() + ":" + head) + "&base=" + escaped(base.value());
        return api.list("/pulls" + query, SIZE, 1, ForgeApi::pull).stream().findFirst();
    }

    @Override
    public PullRequest open(NewPull wanted) {
        requireBranch(wanted.base());
        requireBranch(wanted.head());
        String text = api.send(
                "POST",
                "/pulls",
                Optional.of(out -> {
                    out.writeStringProperty("title", wanted.title());
                    out.writeStringProperty("body", wanted.body());
                    out.writeStringProperty("head", wanted.head().value());
                    out.writeStringProperty("base", wanted.base().value());
                }),
                "the repository");
        return api.read(text, ForgeApi::pull);
    }

    @Override
    public PullRequest merge(long number, PullRequest.Merge method) {
        api.send(
                "PUT",
                "/pulls/" + number + "/merge",
                Optional.of(out -> out.writeStringProperty("merge_method", method.text())),
                "pull request " + number);
        return pull(number);
    }
}
