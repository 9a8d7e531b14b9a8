package dev.vivarium.server;

import dev.vivarium.core.MasterKey;
import dev.vivarium.core.Scheduler;
import dev.vivarium.core.access.Audit;
import dev.vivarium.core.egress.OutboundHttp;
import dev.vivarium.core.git.Deliveries;
import dev.vivarium.core.git.Forge;
import dev.vivarium.core.git.GitCredentials;
import dev.vivarium.core.git.GitWorkspaces;
import dev.vivarium.core.git.HostGit;
import dev.vivarium.core.git.Mirrors;
import dev.vivarium.core.git.RelayAccess;
import dev.vivarium.core.git.Remotes;
import dev.vivarium.core.git.RunRepositories;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.DutyLease;
import dev.vivarium.server.git.Forges;
import dev.vivarium.server.git.GitRelayHandler;
import dev.vivarium.server.operation.GitWork;
import dev.vivarium.server.operation.RunHistory;
import dev.vivarium.server.settings.Config;
import java.security.SecureRandom;
import java.time.Duration;

/// Git repositories of runs. Thread-safe.
record GitHosting(
        OutboundHttp http,
        HostGit git,
        Mirrors mirrors,
        GitCredentials credentials,
        RunRepositories repositories,
        Remotes remotes,
        RelayAccess access,
        GitWorkspaces workspaces,
        Forge.Factory forges,
        DutyLease lease,
        EventLog log)
        implements AutoCloseable {
    private static final Duration LEASE = Duration.ofSeconds(30);

    static GitHosting open(Config config, Db db, EventLog log, AgentRuns runs, Scheduler scheduler) {
        var clock = scheduler.clock();
        var settings = config.runs().git();
        var http = new OutboundHttp(config.egress().withPrivateAddresses(settings.privateAddresses()), "git-private");
        var git = new HostGit(settings.timeout());
        var credentials = new GitCredentials(db, MasterKey.of(config.home(), new SecureRandom()), clock);
        var repositories = new RunRepositories(db);
        var remotes = new Remotes(credentials, http, settings.timeout());
        var access = new RelayAccess(repositories, runs.runs());
        return new GitHosting(
                http,
                git,
                new Mirrors(config.home().resolve("git"), git, settings.cacheBytes(), clock),
                credentials,
                repositories,
                remotes,
                access,
                new GitWorkspaces(repositories, remotes, access, runs.tasks(), log, clock),
                new Forges(),
                new DutyLease(db, "git", config.workerId(), LEASE, clock),
                log);
    }

    GitRelayHandler relay(Audit audit, Scheduler scheduler) {
        return new GitRelayHandler(access, remotes, mirrors, git, audit, scheduler.clock());
    }

    GitWork work(RunHistory history, Sandboxes sandboxes) {
        return new GitWork(
                new GitWork.Parts(credentials, repositories, workspaces, remotes, forges), history, sandboxes);
    }

    /// Starts the deliveries of completed runs. Close them before the log.
    Deliveries deliver(Sandboxes sandboxes, Audit audit, Scheduler scheduler) {
        var parts = new Deliveries.Parts(repositories, workspaces, remotes, forges);
        var deliveries = new Deliveries(parts, sandboxes, lease, audit, log, scheduler);
        deliveries.start();
        return deliveries;
    }

    /// Idempotent.
    @Override
    public void close() {
        http.close();
    }
}
