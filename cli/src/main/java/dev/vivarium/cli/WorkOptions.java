package dev.vivarium.cli;

import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.RepositoryRequest;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of a run or a task for its guardian and its git repository.
final class WorkOptions {
    @Option(
            names = "--guardian",
            paramLabel = "POLICY",
            description = "off, watch, steer or stop (that of the server).")
    private @Nullable GuardianPolicy guardian;

    @Option(
            names = "--repository",
            paramLabel = "URL",
            description = "Git repository that the agent works on, with --credential.")
    private @Nullable String repository;

    @Option(names = "--credential", paramLabel = "NAME", description = "Stored credential of the repository.")
    private @Nullable String credential;

    @Option(names = "--base", paramLabel = "BRANCH", description = "Branch to start from (the default branch).")
    private @Nullable String base;

    @Option(
            names = "--ticket",
            paramLabel = "TICKET",
            description = "Label ticket_id, and part of the name of the branch.")
    private @Nullable String ticket;

    @Option(
            names = "--on-success",
            paramLabel = "ACTION",
            description = "push, or pull_request; then the server delivers the changes.")
    private @Nullable String onSuccess;

    Optional<GuardianPolicy> guardian() {
        return Optional.ofNullable(guardian);
    }

    Optional<String> ticket() {
        return Optional.ofNullable(ticket);
    }

    Optional<RepositoryRequest> repository() {
        if (repository == null && credential == null && base == null && onSuccess == null) {
            return Optional.empty();
        }
        if (repository == null || credential == null) {
            throw SandboxException.invalid("--repository", "and --credential are needed together");
        }
        return Optional.of(new RepositoryRequest(
                repository,
                credential,
                Optional.ofNullable(base),
                Optional.ofNullable(ticket),
                Optional.ofNullable(onSuccess)));
    }
}
