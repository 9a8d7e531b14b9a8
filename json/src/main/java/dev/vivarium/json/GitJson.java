package dev.vivarium.json;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.JsonType.constants;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;

import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitBranch;
import dev.vivarium.model.GitCommit;
import dev.vivarium.model.GitComparison;
import dev.vivarium.model.GitCredential;
import dev.vivarium.model.PullRequest;
import dev.vivarium.model.Repository;
import dev.vivarium.model.RepositoryUrl;
import dev.vivarium.model.RunRepository;
import java.util.Optional;

/// JSON form of git repositories, credentials, branches and pull requests. Stateless.
public final class GitJson {
    public static final JsonType<GitCredential.Forge> FORGE =
            constants(GitCredential.Forge.class, GitCredential.Forge::text, "must be github, gitea or none");
    public static final JsonType<PullRequest.Merge> MERGE =
            constants(PullRequest.Merge.class, PullRequest.Merge::text, "must be merge, squash or rebase");
    public static final JsonType<PullRequest.Filter> FILTER =
            constants(PullRequest.Filter.class, PullRequest.Filter::text, "must be open, closed or all");

    private static final JsonType<Repository.OnSuccess> ON_SUCCESS =
            constants(Repository.OnSuccess.class, Repository.OnSuccess::text, "must be push or pull_request");

    /// Repository of a request.
    public static final ObjectType<Repository> NEW_REPOSITORY = ObjectType.<Repository>object(
                    "NewRepository",
                    field("url", STRING, "An `https` URL without a user name."),
                    optional("base", STRING, "The branch to start from; the default branch of the remote if absent."),
                    optional("branch", STRING, "The branch of the work; made from `ticket` and the title if absent."),
                    optional("ticket", STRING, "Part of the name of the branch, such as `TICKET-456`."),
                    field("credential", JsonType.oneOf(STRING, inline()), """
                            The name of a stored credential, or a credential that the server stores encrypted under a \
                            new name."""),
                    optional("depth", INT.range(0, 1_000_000), "Number of commits to clone; 50 by default, 0 for all."),
                    optional("on_success", ON_SUCCESS, "What the server does when the run has completed."))
            .with("additionalProperties", false)
            .readBy(GitJson::read);

    /// Repository of a task or a run.
    public static final ObjectType<Repository> REPOSITORY = object(
            "Repository",
            field("url", STRING, repository -> repository.url().toString()),
            optional("base", STRING, repository -> repository.base().map(BranchName::value)),
            optional("branch", STRING, repository -> repository.branch().map(BranchName::value)),
            optional("ticket", STRING, Repository::ticket),
            field("credential", STRING, Repository::credentialName),
            field("depth", INT, Repository::depth),
            optional("on_success", ON_SUCCESS, Repository::onSuccess));

    public static final ObjectType<GitCredential> CREDENTIAL = object(
            "GitCredential",
            field("name", STRING, GitCredential::name),
            field("host", STRING, GitCredential::host),
            field("forge", FORGE, GitCredential::forge),
            field("username", STRING, GitCredential::username),
            field("created_at", TIME, GitCredential::createdAt));

    private static final ObjectType<RunRepository.PullLink> PULL_LINK = object(
            "",
            field("number", LONG, RunRepository.PullLink::number),
            field("url", STRING, RunRepository.PullLink::url));

    /// Repository of a run with the state of its delivery.
    public static final ObjectType<RunRepository> RUN_REPOSITORY = object(
            "RunRepository",
            field("run_id", IdTypes.RUN_ID, RunRepository::run),
            field("sandbox_id", IdTypes.SANDBOX_ID, RunRepository::sandbox),
            field("url", STRING, work -> work.repository().url().toString()),
            optional("base", STRING, work -> work.base().map(BranchName::value)),
            field("branch", STRING, work -> work.branch().value()),
            optional("ticket", STRING, work -> work.repository().ticket()),
            field("credential", STRING, work -> work.repository().credentialName()),
            optional("on_success", ON_SUCCESS, work -> work.repository().onSuccess()),
            field("status", constants(RunRepository.Status.class), RunRepository::status),
            optional("commit", STRING, "The last commit that the server pushed.", RunRepository::commit),
            optional("pull_request", PULL_LINK, RunRepository::pull),
            optional("error", STRING, "Why the work could not be delivered.", RunRepository::error));

    public static final ObjectType<GitBranch> BRANCH = object(
            "GitBranch",
            field("name", STRING, GitBranch::name),
            field("commit", STRING, GitBranch::commit),
            field("protected", BOOLEAN, GitBranch::isProtected));

    public static final ObjectType<GitCommit> COMMIT = object(
            "GitCommit",
            field("commit", STRING, GitCommit::id),
            field("message", STRING, GitCommit::message),
            field("author", STRING, GitCommit::author),
            field("email", STRING, GitCommit::email),
            optional("at", TIME, GitCommit::at));

    public static final ObjectType<GitComparison> COMPARISON = object(
            "GitComparison",
            field("base", STRING, GitComparison::base),
            field("head", STRING, GitComparison::head),
            field("ahead", LONG, GitComparison::ahead),
            field("commits", list(COMMIT), GitComparison::commits),
            field("files", list(STRING), GitComparison::files));

    public static final ObjectType<PullRequest> PULL_REQUEST = object(
            "PullRequest",
            field("number", LONG, PullRequest::number),
            field("title", STRING, PullRequest::title),
            field("body", STRING, PullRequest::body),
            field("state", constants(PullRequest.State.class), PullRequest::state),
            field("head", STRING, PullRequest::head),
            field("base", STRING, PullRequest::base),
            field("author", STRING, PullRequest::author),
            field("url", STRING, PullRequest::url),
            optional("mergeable", BOOLEAN, "Absent while the host computes it.", PullRequest::mergeable),
            optional("merge_commit", STRING, PullRequest::mergeCommit));

    private GitJson() {}

    private static ObjectType<Object> inline() {
        return object("", field("token", STRING), optional("username", STRING), optional("forge", FORGE));
    }

    private static Repository read(JsonFields fields) {
        var repository = new Repository(
                RepositoryUrl.of(fields.string("url")),
                fields.optionalString("base").map(text -> BranchName.of("repository.base", text)),
                fields.optionalString("branch").map(text -> BranchName.of("repository.branch", text)),
                fields.optionalString("ticket"),
                credential(fields),
                fields.optional("depth", INT).orElse(Repository.DEPTH),
                fields.optional("on_success", ON_SUCCESS));
        fields.refuseOthers();
        return repository;
    }

    private static Repository.Credential credential(JsonFields fields) {
        Optional<JsonFields> inline =
                fields.isObject("credential") ? fields.optionalObject("credential") : Optional.empty();
        if (inline.isEmpty()) {
            return new Repository.Credential.Named(fields.string("credential"));
        }
        var credential = new Repository.Credential.Inline(
                inline.get().string("token"),
                inline.get().optionalString("username"),
                inline.get().optional("forge", FORGE));
        inline.get().refuseOthers();
        return credential;
    }
}
