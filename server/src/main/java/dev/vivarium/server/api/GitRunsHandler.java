package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.GitJson;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.GitCredential;
import dev.vivarium.model.RunRepository;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.GitWork;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// `/api/v1/git/credentials` and `/api/v1/runs/{run_id}/git`: stored credentials, and commits and pushes of runs.
/// Thread-safe.
public final class GitRunsHandler {
    private static final ObjectType<Object> NEW_CREDENTIAL = object(
                    "NewGitCredential",
                    field("name", STRING, "A credential of the same name is replaced."),
                    field("host", STRING, "The host of the repositories, with its port if it is not the default."),
                    field("token", STRING, "Stored encrypted. No response contains it."),
                    optional("username", STRING, "The user name for git; `x-access-token` by default."),
                    optional("forge", GitJson.FORGE, "The API of the host: `github` for github.com, else `gitea`."),
                    optional("user_id", STRING, "The owner, for the admin."))
            .with("additionalProperties", false);
    private static final ObjectType<List<GitCredential>> CREDENTIALS =
            object("GitCredentials", field("credentials", JsonType.list(GitJson.CREDENTIAL), Function.identity()));
    private static final ObjectType<String> REMOVED =
            object("RemovedGitCredential", constant("status", "deleted"), field("name", STRING, Function.identity()));
    private static final ObjectType<Object> NEW_COMMIT = object(
                    "NewGitCommit",
                    field("message", STRING),
                    optional("paths", JsonType.list(STRING), "Files and directories; all changes if absent."))
            .with("additionalProperties", false);
    private static final ObjectType<Result> COMMITTED = object(
            "GitCommitResult",
            field("branch", STRING, Result::branch),
            optional("commit", STRING, "Absent if there was nothing to push.", Result::commit));

    private record Result(String branch, Optional<String> commit) {}

    public static final RouteDescription SAVE = RouteDescription.post("/api/v1/git/credentials", KEY)
            .named("saveGitCredential", "Store a credential for a git host")
            .takes(NEW_CREDENTIAL)
            .answers(201, "The credential, without its token.", GitJson.CREDENTIAL)
            .fails(403);
    public static final RouteDescription LIST = RouteDescription.get("/api/v1/git/credentials", KEY)
            .named("listGitCredentials", "List the stored credentials for git hosts")
            .answers(200, "The credentials of the caller, without their tokens.", CREDENTIALS);
    public static final RouteDescription REMOVE = RouteDescription.delete("/api/v1/git/credentials/{name}", KEY)
            .named("deleteGitCredential", "Delete a stored credential for a git host")
            .answers(200, "The credential is deleted.", REMOVED)
            .fails(404);
    public static final RouteDescription GET = RouteDescription.get("/api/v1/runs/{run_id}/git", KEY)
            .named("getRunRepository", "Find the repository of a run and the state of its delivery")
            .answers(200, "The repository.", GitJson.RUN_REPOSITORY)
            .fails(404);
    public static final RouteDescription COMMIT = RouteDescription.post("/api/v1/runs/{run_id}/git/commit", KEY)
            .named("commitRun", "Commit the changes in the clone of a run")
            .text("Commits nothing if there are no changes. The agent is the author, and the user is a co-author.")
            .takes(NEW_COMMIT)
            .answers(200, "The newest commit.", COMMITTED)
            .fails(403, 404, 409);
    public static final RouteDescription PUSH = RouteDescription.post("/api/v1/runs/{run_id}/git/push", KEY)
            .named("pushRun", "Push the commits of a run to its branch")
            .answers(200, "The commit that was pushed.", COMMITTED)
            .fails(403, 404, 409)
            .fails(502, GitHandler.HOST_FAILED)
            .fails(504, GitHandler.HOST_TIMED_OUT);

    private final GitWork work;

    public GitRunsHandler(GitWork work) {
        this.work = work;
    }

    public void save(Exchange exchange) throws IOException {
        JsonFields fields = exchange.json();
        String host = fields.string("host");
        var owner = fields.optionalString("user_id")
                .map(UserId::new)
                .orElseGet(() -> exchange.principal().name());
        var credential = new GitCredential(
                owner,
                fields.string("name"),
                host,
                fields.optional("forge", GitJson.FORGE).orElseGet(() -> GitCredential.Forge.of(host)),
                fields.optionalString("username").orElse(GitCredential.USERNAME),
                Instant.EPOCH);
        String token = fields.string("token");
        fields.refuseOthers();
        exchange.answer(201, GitJson.CREDENTIAL, work.save(exchange.principal(), credential, token));
    }

    public void list(Exchange exchange) throws IOException {
        exchange.answer(200, CREDENTIALS, work.credentials(exchange.principal().name()));
    }

    public void remove(Exchange exchange) throws IOException {
        String name = exchange.path("name");
        work.remove(exchange.principal().name(), name);
        exchange.answer(200, REMOVED, name);
    }

    public void get(Exchange exchange) throws IOException {
        exchange.answer(200, GitJson.RUN_REPOSITORY, ofRun(exchange));
    }

    private RunRepository ofRun(Exchange exchange) {
        return work.ofRun(exchange.principal(), exchange.path("run_id"));
    }

    public void commit(Exchange exchange) throws IOException {
        JsonFields fields = exchange.json();
        String message = fields.string("message");
        List<String> paths = fields.optionalStrings("paths").orElse(List.of());
        fields.refuseOthers();
        String commit = work.commit(exchange.principal(), exchange.path("run_id"), message, paths);
        exchange.answer(200, COMMITTED, new Result(ofRun(exchange).branch().value(), Optional.of(commit)));
    }

    public void push(Exchange exchange) throws IOException {
        Optional<String> commit = work.push(exchange.principal(), exchange.path("run_id"));
        exchange.answer(200, COMMITTED, new Result(ofRun(exchange).branch().value(), commit));
    }
}
