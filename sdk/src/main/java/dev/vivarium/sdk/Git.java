package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.TextEnum;
import dev.vivarium.sdk.http.Transport;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/// Git repositories of runs, and their branches and pull requests. Thread-safe.
///
/// Every record has the object that the server sent as `json`, with the members that this version does not know.
public final class Git {
    private static final String PATH = "/api/v1/git";
    private static final String CREDENTIALS = PATH + "/credentials";
    private static final String PULLS = PATH + "/pulls";

    private final Transport transport;

    Git(Transport transport) {
        this.transport = transport;
    }

    /// Selection of a repository: that of a run, or one by its address with a stored credential. Immutable.
    public record Selection(Optional<String> run, Optional<String> url, Optional<String> credential) {
        /// The branch and the base of the run are the defaults of other parameters.
        public static Selection ofRun(String run) {
            return new Selection(Optional.of(run), Optional.empty(), Optional.empty());
        }

        public static Selection ofUrl(String url, String credential) {
            return new Selection(Optional.empty(), Optional.of(url), Optional.of(credential));
        }

        private String query() {
            return "?" + parameter("run_id", run) + parameter("url", url) + parameter("credential", credential);
        }

        private void write(JsonGenerator out) {
            run.ifPresent(id -> out.writeStringProperty("run_id", id));
            url.ifPresent(address -> out.writeStringProperty("url", address));
            credential.ifPresent(name -> out.writeStringProperty("credential", name));
        }
    }

    /// A credential to store for a host. Immutable.
    ///
    /// @param host     host of the repositories, with its port if the port is not the default
    /// @param username user name for git over HTTP, if it is not that of the server
    /// @param forge    `github`, `gitea` or `none`
    public record NewCredential(
            String name, String host, String token, Optional<String> username, Optional<String> forge) {
        private void write(JsonGenerator out) {
            out.writeStringProperty("name", name);
            out.writeStringProperty("host", host);
            out.writeStringProperty("token", token);
            username.ifPresent(text -> out.writeStringProperty("username", text));
            forge.ifPresent(text -> out.writeStringProperty("forge", text));
        }

        @Override
        public String toString() {
            return "NewCredential[" + name + ", " + host + ", ***]";
        }
    }

    /// A stored credential without its token. Immutable.
    public record Credential(String name, String host, String forge, String username, Instant createdAt, String json) {
        private static Credential read(JsonFields fields) {
            return new Credential(
                    fields.string("name"),
                    fields.string("host"),
                    fields.string("forge"),
                    fields.string("username"),
                    fields.time("created_at"),
                    fields.text());
        }
    }

    /// The repository of a run and the state of its delivery. Immutable.
    ///
    /// @param status      `open`, `delivering`, `delivered`, `failed` or `closed`
    /// @param commit      last commit that the server pushed
    /// @param pullRequest address of the pull request
    /// @param error       why the delivery failed
    public record RunRepository(
            String url,
            Optional<String> base,
            String branch,
            String status,
            Optional<String> commit,
            Optional<String> pullRequest,
            Optional<String> error,
            String json) {
        private static RunRepository read(JsonFields fields) {
            return new RunRepository(
                    fields.string("url"),
                    fields.optionalString("base"),
                    fields.string("branch"),
                    fields.string("status"),
                    fields.optionalString("commit"),
                    fields.optionalObject("pull_request").map(pull -> pull.string("url")),
                    fields.optionalString("error"),
                    fields.text());
        }
    }

    /// Newest commit of the branch of a run. Immutable.
    ///
    /// @param commit absent if there was nothing to push
    public record BranchHead(String branch, Optional<String> commit, String json) {
        private static BranchHead read(JsonFields fields) {
            return new BranchHead(fields.string("branch"), fields.optionalString("commit"), fields.text());
        }
    }

    public record Branch(String name, String commit, boolean isProtected, String json) {
        private static Branch read(JsonFields fields) {
            return new Branch(fields.string("name"), fields.string("commit"), fields.flag("protected"), fields.text());
        }
    }

    public record Commit(String id, String message, String author, Optional<Instant> at, String json) {
        private static Commit read(JsonFields fields) {
            return new Commit(
                    fields.string("commit"),
                    fields.string("message"),
                    fields.string("author"),
                    fields.optionalTime("at"),
                    fields.text());
        }
    }

    /// Commits and files of `head` that `base` does not have. Immutable.
    ///
    /// @param ahead number of these commits
    public record Comparison(
            String base, String head, long ahead, List<Commit> commits, List<String> files, String json) {
        public Comparison {
            commits = List.copyOf(commits);
            files = List.copyOf(files);
        }

        private static Comparison read(JsonFields fields) {
            return new Comparison(
                    fields.string("base"),
                    fields.string("head"),
                    fields.integer("ahead"),
                    fields.objects("commits").stream().map(Commit::read).toList(),
                    fields.findStrings("files").orElse(List.of()),
                    fields.text());
        }
    }

    /// A pull request. Immutable.
    ///
    /// @param state `open`, `closed` or `merged`
    public record PullRequest(
            long number,
            String title,
            String state,
            String head,
            String base,
            String author,
            String url,
            Optional<String> mergeCommit,
            String json) {
        private static PullRequest read(JsonFields fields) {
            return new PullRequest(
                    fields.integer("number"),
                    fields.string("title"),
                    fields.string("state"),
                    fields.string("head"),
                    fields.string("base"),
                    fields.string("author"),
                    fields.string("url"),
                    fields.optionalString("merge_commit"),
                    fields.text());
        }
    }

    /// A pull request to open. Absent fields have the values of the run. Immutable.
    public record NewPullRequest(
            Optional<String> title, Optional<String> body, Optional<String> head, Optional<String> base) {
        private void write(JsonGenerator out) {
            title.ifPresent(text -> out.writeStringProperty("title", text));
            body.ifPresent(text -> out.writeStringProperty("body", text));
            head.ifPresent(name -> out.writeStringProperty("head", name));
            base.ifPresent(name -> out.writeStringProperty("base", name));
        }
    }

    /// How a pull request is merged.
    public enum Merge implements TextEnum {
        MERGE,
        SQUASH,
        REBASE
    }

    /// States of the pull requests in a list.
    public enum PullState implements TextEnum {
        OPEN,
        CLOSED,
        ALL
    }

    /// Stores a credential for a host. Replaces a credential of the same name.
    public Credential saveCredential(NewCredential credential) {
        return transport.post(CREDENTIALS, credential::write, Credential::read);
    }

    public List<Credential> credentials() {
        return list(CREDENTIALS, "credentials", Credential::read);
    }

    public void removeCredential(String name) {
        transport.delete(CREDENTIALS + "/" + Transport.segment(name));
    }

    public RunRepository ofRun(String run) {
        return transport.get(runPath(run), RunRepository::read);
    }

    /// Commits changes in the clone of a run.
    ///
    /// @param paths files and directories; empty for all changes
    public BranchHead commit(String run, String message, List<String> paths) {
        return transport.post(
                runPath(run) + "/commit",
                out -> {
                    out.writeStringProperty("message", message);
                    if (!paths.isEmpty()) {
                        out.writeArrayPropertyStart("paths");
                        paths.forEach(out::writeString);
                        out.writeEndArray();
                    }
                },
                BranchHead::read);
    }

    /// Pushes the commits of a run to its branch.
    public BranchHead push(String run) {
        return transport
                .send("POST", runPath(run) + "/push", Map.of(), Transport.Body.none())
                .read(BranchHead::read);
    }

    public List<Branch> branches(Selection repository, int limit) {
        return list(PATH + "/branches" + repository.query() + "limit=" + limit, "branches", Branch::read);
    }

    public void deleteBranch(Selection repository, String name) {
        transport.delete(PATH + "/branches" + repository.query() + "name=" + Transport.segment(name));
    }

    /// The newest commits of a branch; by default of the branch of the run, or of the default branch.
    public List<Commit> commits(Selection repository, Optional<String> branch, int limit) {
        String query = repository.query() + parameter("branch", branch) + "limit=" + limit;
        return list(PATH + "/commits" + query, "commits", Commit::read);
    }

    public Comparison compare(Selection repository, Optional<String> base, Optional<String> head) {
        String query = repository.query() + parameter("base", base) + parameter("head", head);
        return transport.get(PATH + "/compare" + query, Comparison::read);
    }

    public List<PullRequest> pulls(Selection repository, PullState state, int limit) {
        String query = repository.query() + "state=" + state.text() + "&limit=" + limit;
        return list(PULLS + query, "pull_requests", PullRequest::read);
    }

    public PullRequest pull(Selection repository, long number) {
        return transport.get(PULLS + "/" + number + repository.query(), PullRequest::read);
    }

    public PullRequest openPull(Selection repository, NewPullRequest request) {
        return transport.post(
                PULLS,
                out -> {
                    repository.write(out);
                    request.write(out);
                },
                PullRequest::read);
    }

    public PullRequest mergePull(Selection repository, long number, Merge method, boolean deletesBranch) {
        return transport.post(
                PULLS + "/" + number + "/merge",
                out -> {
                    repository.write(out);
                    out.writeStringProperty("method", method.text());
                    out.writeBooleanProperty("delete_branch", deletesBranch);
                },
                PullRequest::read);
    }

    private <T> List<T> list(String path, String name, Function<JsonFields, T> codec) {
        return transport.get(
                path, fields -> fields.objects(name).stream().map(codec).toList());
    }

    private static String parameter(String name, Optional<String> value) {
        return value.map(text -> name + "=" + Transport.segment(text) + "&").orElse("");
    }

    private static String runPath(String run) {
        return "/api/v1/runs/" + Transport.segment(run) + "/git";
    }
}
