package dev.vivarium.server.operation;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.git.Forge;
import dev.vivarium.core.git.GitCredentials;
import dev.vivarium.core.git.GitWorkspaces;
import dev.vivarium.core.git.Remotes;
import dev.vivarium.core.git.RunRepositories;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitCredential;
import dev.vivarium.model.PullRequest;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.SandboxLookup;
import java.util.List;
import java.util.Optional;

/// Operations on git credentials, the repositories of runs, and the branches and pull requests of their hosts.
/// Thread-safe.
public final class GitWork {
    private final Parts parts;
    private final RunHistory history;
    private final Sandboxes sandboxes;

    /// Parts of the engine that the operations use. Immutable.
    public record Parts(
            GitCredentials credentials,
            RunRepositories repositories,
            GitWorkspaces workspaces,
            Remotes remotes,
            Forge.Factory forges) {}

    public GitWork(Parts parts, RunHistory history, Sandboxes sandboxes) {
        this.parts = parts;
        this.history = history;
        this.sandboxes = sandboxes;
    }

    /// Selects a repository: that of a run, or one by its address. Immutable.
    public record Selection(Optional<String> run, Optional<String> url, Optional<String> credential) {}

    /// A repository of a host, and the run that works on it.
    public record Selected(Forge forge, Optional<RunRepository> work) {}

    public GitCredential save(Principal caller, GitCredential credential, String token) {
        CreateSandbox.requireMayActFor(caller, credential.owner());
        return parts.credentials.save(credential, token);
    }

    public List<GitCredential> credentials(UserId owner) {
        return parts.credentials.list(owner);
    }

    public void remove(UserId owner, String name) {
        parts.credentials.remove(owner, name);
    }

    public RunRepository ofRun(Principal caller, String run) {
        return parts.repositories.require(history.require(caller, run).id());
    }

    /// Only a caller who may start processes in the sandbox may use the credential of the run.
    private RunRepository writable(Principal caller, String id) {
        Run run = history.require(caller, id);
        SandboxLookup.requireScope(history.scopes(caller, run).orElseThrow(), Scope.PROCESS);
        return parts.repositories.require(run.id());
    }

    public String commit(Principal caller, String run, String message, List<String> paths) {
        return parts.workspaces.commit(sandboxes, writable(caller, run), message, paths);
    }

    /// Returns the commit that was pushed, or nothing if the run has made no commit.
    public Optional<String> push(Principal caller, String run) {
        return parts.workspaces.push(sandboxes, writable(caller, run));
    }

    public Selected select(Principal caller, Selection selection) {
        if (selection.run.isPresent()) {
            require(selection.url.isEmpty(), "url", "must not be given with run_id");
            RunRepository work = writable(caller, selection.run.get());
            return new Selected(parts.forges.of(parts.remotes.of(work)), Optional.of(work));
        }
        String url = selection.url.orElseThrow(
                () -> SandboxException.invalid("run_id", "is required, or url with credential"));
        require(selection.credential.isPresent(), "credential", "is required with url");
        var remote = parts.remotes.of(caller.name(), selection.credential.get(), RepositoryUrl.of(url));
        return new Selected(parts.forges.of(remote), Optional.empty());
    }

    /// Opens a pull request. Branches and title of a run are the defaults.
    public PullRequest open(Selected selected, Optional<String> title, String body, Branches branches) {
        Optional<RunRepository> work = selected.work;
        BranchName head = branches.head
                .or(() -> work.map(RunRepository::branch))
                .orElseThrow(() -> SandboxException.invalid("head", "is required with url"));
        BranchName base =
                branches.base.or(() -> work.flatMap(RunRepository::base)).orElseGet(selected.forge::defaultBranch);
        String named = title.or(() -> work.map(RunRepository::title)).orElse(head.value());
        PullRequest pull = selected.forge.open(new Forge.NewPull(named, body, head, base));
        work.filter(one -> one.branch().equals(head))
                .ifPresent(one ->
                        parts.repositories.pulled(one.run(), new RunRepository.PullLink(pull.number(), pull.url())));
        return pull;
    }

    /// Branches of a request. Immutable.
    public record Branches(Optional<BranchName> base, Optional<BranchName> head) {
        /// Returns the branches, with those of the run as defaults.
        public Branches of(Selected selected) {
            return new Branches(
                    base.or(() -> selected.work.flatMap(RunRepository::base)),
                    head.or(() -> selected.work.map(RunRepository::branch)));
        }
    }

    /// Merges a pull request, and deletes its branch if `deleteBranch` is set.
    public PullRequest merge(Selected selected, long number, PullRequest.Merge method, boolean deleteBranch) {
        PullRequest merged = selected.forge.merge(number, method);
        if (deleteBranch) {
            selected.forge.deleteBranch(new BranchName(merged.head()));
        }
        return merged;
    }
}
