package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.BOOLEAN;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.json.GitJson;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.BranchName;
import dev.vivarium.model.GitBranch;
import dev.vivarium.model.GitCommit;
import dev.vivarium.model.PullRequest;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.GitWork;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// `/api/v1/git/…`: branches, commits and pull requests on the host of a repository. Thread-safe.
public final class GitHandler {
    private static final int MAX_PAGE = 1000;
    private static final String BRANCH = "branch";
    static final String HOST_FAILED = "The git host cannot be reached, or its response is invalid.";
    static final String HOST_TIMED_OUT = "The git host did not respond in time.";

    private static final ObjectType<List<GitBranch>> BRANCHES =
            object("GitBranches", field("branches", list(GitJson.BRANCH), Function.identity()));
    private static final ObjectType<List<GitCommit>> COMMITS =
            object("GitCommits", field("commits", list(GitJson.COMMIT), Function.identity()));
    private static final ObjectType<List<PullRequest>> PULLS =
            object("PullRequests", field("pull_requests", list(GitJson.PULL_REQUEST), Function.identity()));
    private static final ObjectType<String> DELETED =
            object("DeletedBranch", constant("status", "deleted"), field("name", STRING, Function.identity()));

    private static final ObjectType<Object> NEW_PULL = object(
                    "NewPullRequest",
                    optional("run_id", STRING),
                    optional("url", STRING),
                    optional("credential", STRING),
                    optional("title", STRING, "The title of the task by default."),
                    optional("body", STRING),
                    optional("head", STRING, "The branch of the run by default."),
                    optional("base", STRING, "The base of the run, or the default branch."))
            .with("additionalProperties", false);
    private static final ObjectType<Object> MERGE_PULL = object(
                    "MergePullRequest",
                    optional("run_id", STRING),
                    optional("url", STRING),
                    optional("credential", STRING),
                    optional("method", GitJson.MERGE, "`merge` by default."),
                    optional("delete_branch", BOOLEAN, "Deletes the branch after the merge."))
            .with("additionalProperties", false);

    public static final RouteDescription LIST_BRANCHES = selecting(RouteDescription.get("/api/v1/git/branches", KEY)
                    .named("listGitBranches", "List the branches of a repository"))
            .query("limit", PageQuery.LIMIT, "Maximum number of branches.")
            .answers(200, "The branches.", BRANCHES)
            .fails(403, 404, 409)
            .fails(502, HOST_FAILED)
            .fails(504, HOST_TIMED_OUT);
    public static final RouteDescription DELETE_BRANCH = selecting(RouteDescription.delete("/api/v1/git/branches", KEY)
                    .named("deleteGitBranch", "Delete a branch of a repository"))
            .requiredQuery("name", "The branch.")
            .answers(200, "The branch is deleted.", DELETED)
            .fails(403, 404, 409)
            .fails(502, HOST_FAILED)
            .fails(504, HOST_TIMED_OUT);
    public static final RouteDescription LIST_COMMITS = selecting(RouteDescription.get("/api/v1/git/commits", KEY)
                    .named("listGitCommits", "List the newest commits of a branch"))
            .query(BRANCH, STRING, "The branch of the run, or the default branch, if absent.")
            .query("limit", PageQuery.LIMIT, "Maximum number of commits.")
            .answers(200, "The commits, newest first.", COMMITS)
            .fails(403, 404, 409)
            .fails(502, HOST_FAILED)
            .fails(504, HOST_TIMED_OUT);
    public static final RouteDescription COMPARE = selecting(RouteDescription.get("/api/v1/git/compare", KEY)
                    .named("compareGitBranches", "Compare two branches"))
            .query("base", STRING, "The base of the run, or the default branch, if absent.")
            .query("head", STRING, "The branch of the run if absent.")
            .answers(200, "The commits and files of `head` that `base` does not have.", GitJson.COMPARISON)
            .fails(403, 404, 409)
            .fails(502, HOST_FAILED)
            .fails(504, HOST_TIMED_OUT);
    public static final RouteDescription LIST_PULLS = selecting(
                    RouteDescription.get("/api/v1/git/pulls", KEY).named("listPullRequests", "List pull requests"))
            .query("state", GitJson.FILTER, "`open` by default.")
            .query("limit", PageQuery.LIMIT, "Maximum number of pull requests.")
            .answers(200, "The pull requests.", PULLS)
            .fails(403, 404, 409)
            .fails(502, HOST_FAILED)
            .fails(504, HOST_TIMED_OUT);
    public static final RouteDescription OPEN_PULL = RouteDescription.post("/api/v1/git/pulls", KEY)
            .named("openPullRequest", "Open a pull request")
            .takes(NEW_PULL)
            .answers(201, "The pull request.", GitJson.PULL_REQUEST)
            .fails(403, 404, 409)
            .fails(502, HOST_FAILED)
            .fails(504, HOST_TIMED_OUT);
    public static final RouteDescription GET_PULL = selecting(RouteDescription.get("/api/v1/git/pulls/{number}", KEY)
                    .named("getPullRequest", "Find a pull request"))
            .answers(200, "The pull request.", GitJson.PULL_REQUEST)
            .fails(403, 404, 409)
            .fails(502, HOST_FAILED)
            .fails(504, HOST_TIMED_OUT);
    public static final RouteDescription MERGE = RouteDescription.post("/api/v1/git/pulls/{number}/merge", KEY)
            .named("mergePullRequest", "Merge a pull request")
            .takes(MERGE_PULL)
            .answers(200, "The merged pull request.", GitJson.PULL_REQUEST)
            .fails(403, 404, 409)
            .fails(502, HOST_FAILED)
            .fails(504, HOST_TIMED_OUT);

    private final GitWork work;

    public GitHandler(GitWork work) {
        this.work = work;
    }

    private static RouteDescription selecting(RouteDescription route) {
        return route.query("run_id", STRING, "The repository of this run.")
                .query("url", STRING, "A repository by its address, with `credential`.")
                .query("credential", STRING, "The name of a stored credential, with `url`.");
    }

    private GitWork.Selected byQuery(Exchange exchange) {
        return work.select(
                exchange.principal(),
                new GitWork.Selection(
                        exchange.optionalQuery("run_id"),
                        exchange.optionalQuery("url"),
                        exchange.optionalQuery("credential")));
    }

    private GitWork.Selected byBody(Exchange exchange, JsonFields fields) {
        return work.select(
                exchange.principal(),
                new GitWork.Selection(
                        fields.optionalString("run_id"),
                        fields.optionalString("url"),
                        fields.optionalString("credential")));
    }

    private static Optional<BranchName> branch(String field, Optional<String> text) {
        return text.map(name -> BranchName.of(field, name));
    }

    private static long number(Exchange exchange) {
        String text = exchange.path("number");
        if (!text.matches("[1-9][0-9]{0,17}")) {
            throw SandboxException.invalid("number", "must be the number of a pull request");
        }
        return Long.parseLong(text);
    }

    public void listBranches(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        exchange.answer(200, BRANCHES, byQuery(exchange).forge().branches(limit));
    }

    public void deleteBranch(Exchange exchange) throws IOException {
        var name = BranchName.of("name", exchange.query("name"));
        byQuery(exchange).forge().deleteBranch(name);
        exchange.answer(200, DELETED, name.value());
    }

    public void listCommits(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        var named = branch(BRANCH, exchange.optionalQuery(BRANCH));
        var selected = byQuery(exchange);
        var branch = new GitWork.Branches(Optional.empty(), named).of(selected).head();
        exchange.answer(200, COMMITS, selected.forge().commits(branch, limit));
    }

    public void compare(Exchange exchange) throws IOException {
        var wanted = new GitWork.Branches(
                branch("base", exchange.optionalQuery("base")), branch("head", exchange.optionalQuery("head")));
        var selected = byQuery(exchange);
        var branches = wanted.of(selected);
        BranchName head = branches.head().orElseThrow(() -> SandboxException.invalid("head", "is required with url"));
        BranchName base = branches.base().orElseGet(selected.forge()::defaultBranch);
        exchange.answer(200, GitJson.COMPARISON, selected.forge().compare(base, head));
    }

    public void listPulls(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        var filter = exchange.optionalQuery("state", GitJson.FILTER).orElse(PullRequest.Filter.OPEN);
        exchange.answer(200, PULLS, byQuery(exchange).forge().pulls(filter, limit));
    }

    public void getPull(Exchange exchange) throws IOException {
        long number = number(exchange);
        exchange.answer(200, GitJson.PULL_REQUEST, byQuery(exchange).forge().pull(number));
    }

    public void openPull(Exchange exchange) throws IOException {
        JsonFields fields = exchange.json();
        var title = fields.optionalString("title");
        var body = fields.optionalString("body").orElse("");
        var branches = new GitWork.Branches(
                branch("base", fields.optionalString("base")), branch("head", fields.optionalString("head")));
        var selected = byBody(exchange, fields);
        fields.refuseOthers();
        exchange.answer(201, GitJson.PULL_REQUEST, work.open(selected, title, body, branches));
    }

    public void merge(Exchange exchange) throws IOException {
        long number = number(exchange);
        JsonFields fields = exchange.json();
        var method = fields.optional("method", GitJson.MERGE).orElse(PullRequest.Merge.MERGE);
        boolean deletes = fields.optionalFlag("delete_branch").orElse(false);
        var selected = byBody(exchange, fields);
        fields.refuseOthers();
        exchange.answer(200, GitJson.PULL_REQUEST, work.merge(selected, number, method, deletes));
    }
}
