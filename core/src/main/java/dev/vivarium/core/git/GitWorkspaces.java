package dev.vivarium.core.git;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.Digests;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.run.NewRun;
import dev.vivarium.core.run.RunSetup;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitCredential;
import dev.vivarium.model.GitEvent;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.Repository;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Clones of repositories in sandboxes: the clone before a run, commits and pushes. Thread-safe.
public final class GitWorkspaces implements RunSetup {
    private static final int ID_LENGTH = 16;
    private static final int MAX_MESSAGE = 10_000;

    private final RunRepositories repositories;
    private final Remotes remotes;
    private final RelayAccess access;
    private final Tasks tasks;
    private final EventLog log;
    private final InstantSource clock;

    public GitWorkspaces(
            RunRepositories repositories,
            Remotes remotes,
            RelayAccess access,
            Tasks tasks,
            EventLog log,
            InstantSource clock) {
        this.repositories = repositories;
        this.remotes = remotes;
        this.access = access;
        this.tasks = tasks;
        this.log = log;
        this.clock = clock;
    }

    /// Returns the name of a repository in addresses of the relay.
    public static String relayId(RepositoryUrl url) {
        return Digests.sha256(url.toString()).substring(0, ID_LENGTH);
    }

    /// Clones the repository of the run, and checks out its branch. Fails if the remote does not accept the
    /// credential, or does not have the base.
    @Override
    public Prepared prepare(Sandbox sandbox, Run run, NewRun wanted) {
        return wanted.repository().isEmpty()
                ? Prepared.NOTHING
                : prepare(sandbox, run, wanted.repository().get());
    }

    private Prepared prepare(Sandbox sandbox, Run run, Repository repository) {
        Instant began = clock.instant();
        Remote remote = remotes.of(run.owner(), repository.credentialName(), repository.url());
        RefAdvertisement refs = remote.refs();
        RunRepository work = work(run, repository, base(repository, refs));
        repositories.insert(work, clock.instant());
        String base = work.base().orElseThrow().value();
        String start = refs.has(work.branch()) ? work.branch().value() : base;
        String relay = sandbox.openControlPort() + "/git/" + relayId(repository.url());
        SandboxGit.cloneInto(
                sandbox, new SandboxGit.Clone(work, relay, base, start, author(run), coauthor(run, remote)));
        var cloned = new GitEvent.Cloned(
                run.id(),
                repository.url().toString(),
                base,
                work.branch().value(),
                Duration.between(began, clock.instant()));
        log.append(sandbox.id(), NewEvent.of(cloned, NewEvent.OURS));
        return new Prepared(Optional.of(SandboxGit.directory(sandbox, work)), Map.of());
    }

    private RunRepository work(Run run, Repository repository, BranchName base) {
        String title = tasks.find(run.task()).map(task -> task.wanted().title()).orElse("");
        BranchName branch = repository.branchOf(run.task(), title);
        require(!branch.equals(base), "repository.branch", "must not be the base");
        return new RunRepository(
                run.id(),
                run.sandbox(),
                run.owner(),
                repository,
                Optional.of(base),
                branch,
                title,
                RunRepository.Status.OPEN,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static BranchName base(Repository repository, RefAdvertisement refs) {
        BranchName base = repository
                .base()
                .or(refs::defaultBranch)
                .orElseThrow(() -> new SandboxException(
                        new GitFailure.NotOnRemote("a branch of " + repository.url() + " to start from")));
        if (!refs.has(base)) {
            throw new SandboxException(new GitFailure.NotOnRemote("the branch " + base + " of " + repository.url()));
        }
        return base;
    }

    private static String author(Run run) {
        return "Vivarium agent (" + run.program().runtime().text() + ")";
    }

    /// The user whose work it is. Hosts attribute the commit to the account with that address.
    private static String coauthor(Run run, Remote remote) {
        GitCredential credential = remote.credential();
        boolean isNamed = !credential.username().equals(GitCredential.USERNAME);
        String name = plain(isNamed ? credential.username() : run.owner().value());
        String host = remote.url().host().text();
        String domain = remote.isGitHub() ? "users.noreply.github.com" : "noreply." + plain(host);
        return name + " <" + name + "@" + domain + ">";
    }

    private static String plain(String text) {
        String clean = text.replaceAll("[^A-Za-z0-9._+-]", "-");
        return clean.substring(0, Math.min(clean.length(), 100));
    }

    /// Commits the changes of the working tree of a run, if there are any. Returns the newest commit.
    ///
    /// @param paths files and directories; empty for all changes
    public String commit(Sandboxes sandboxes, RunRepository work, String message, List<String> paths) {
        require(
                !message.isBlank() && message.length() <= MAX_MESSAGE && message.indexOf('\0') < 0,
                "message",
                "must be 1 to " + MAX_MESSAGE + " characters");
        return SandboxGit.commit(sandboxes.require(work.sandbox()), work, message, paths);
    }

    /// Pushes the newest commit of a run to its branch, and returns the commit. Returns nothing if the run has made
    /// no commit.
    public Optional<String> push(Sandboxes sandboxes, RunRepository work) {
        // The remote answers first, so that its failure is not that of a command in the sandbox.
        remotes.of(work).refs();
        String commit;
        try (var _ = access.open(work.run())) {
            commit = SandboxGit.push(sandboxes.require(work.sandbox()), work);
        }
        if (commit.isEmpty()) {
            return Optional.empty();
        }
        repositories.pushed(work.run(), commit);
        log.append(
                work.sandbox(),
                NewEvent.of(new GitEvent.Pushed(work.run(), work.branch().value(), commit), NewEvent.OURS));
        return Optional.of(commit);
    }
}
