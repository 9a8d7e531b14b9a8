package dev.vivarium.server.git;

import dev.vivarium.core.git.Remote;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.JsonType;
import dev.vivarium.model.GitBranch;
import dev.vivarium.model.GitCommit;
import dev.vivarium.model.GitFailure;
import dev.vivarium.model.PullRequest;
import dev.vivarium.model.SandboxException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import tools.jackson.core.JsonGenerator;

/// Requests to the API of one repository, and the objects that GitHub and Gitea have in common. Thread-safe.
final class ForgeApi {
    private static final int NOT_FOUND = 404;
    private static final int FIRST_ERROR = 400;
    private static final int FIRST_FAILURE = 500;
    private static final int MAX_REASON = 300;
    private static final int PAGE = 50;

    private final Remote remote;
    private final String path;

    /// @param path path of the repository in the API
    ForgeApi(Remote remote, String path) {
        this.remote = remote;
        this.path = path;
    }

    Remote remote() {
        return remote;
    }

    String owner() {
        List<String> segments = remote.url().segments();
        return segments.get(segments.size() - 2);
    }

    /// Returns a text for one segment of a path, or for a value of a query.
    static String escaped(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /// Returns a text for several segments of a path.
    static String escapedPath(String text) {
        return escaped(text).replace("%2F", "/");
    }

    /// Sends a request. Fails with `not-on-remote`, `remote-refused` or `remote-failed`.
    ///
    /// @param subject what does not exist if the host responds with 404
    String send(String method, String rest, Optional<Consumer<JsonGenerator>> body, String subject) {
        var json = body.map(fields -> new String(Json.bytes(fields), StandardCharsets.UTF_8));
        Remote.ApiResponse response = remote.api(method, path + rest, json);
        if (response.status() == NOT_FOUND) {
            throw missing(subject);
        }
        if (response.status() >= FIRST_FAILURE) {
            throw remote.failed("status " + response.status() + ": " + reason(response.text()));
        }
        if (response.status() >= FIRST_ERROR) {
            throw remote.refused(reason(response.text()) + " (status " + response.status() + ")");
        }
        return response.text();
    }

    String get(String rest, String subject) {
        return send("GET", rest, Optional.empty(), subject);
    }

    static SandboxException missing(String subject) {
        return new SandboxException(new GitFailure.NotOnRemote(subject));
    }

    private static String reason(String text) {
        String message;
        try {
            JsonFields fields = Json.answer(text);
            String detail = fields.findObjects("errors").stream()
                    .flatMap(error -> error.optionalString("message").stream())
                    .findFirst()
                    .map(more -> "; " + more)
                    .orElse("");
            message = fields.optionalString("message").orElse("no reason") + detail;
        } catch (SandboxException e) {
            message = "no reason";
        }
        return message.length() <= MAX_REASON ? message : message.substring(0, MAX_REASON) + "…";
    }

    /// Reads an object. Fails with `remote-failed` if it does not have the expected fields.
    <T> T read(String text, Function<JsonFields, T> reader) {
        try {
            return reader.apply(Json.answer(text));
        } catch (SandboxException e) {
            throw remote.failed("its response is not understood: " + e.getMessage());
        }
    }

    /// Reads pages of a list until there are `limit` objects, or no more. Gitea sends `null` for some empty lists.
    ///
    /// @param size name of the parameter for the size of a page
    <T> List<T> list(String rest, String size, int limit, Function<JsonFields, T> reader) {
        var all = new ArrayList<T>();
        int length = Math.min(PAGE, limit);
        for (int page = 1; all.size() < limit; page++) {
            String query = (rest.contains("?") ? "&" : "?") + "page=" + page + "&" + size + "=" + length;
            String text = get(rest + query, "the repository " + remote.url());
            List<T> some = read(
                    "{\"all\":" + text + "}",
                    fields -> fields.findObjects("all").stream().map(reader).toList());
            all.addAll(some);
            if (some.size() < length) {
                break;
            }
        }
        return all.subList(0, Math.min(limit, all.size()));
    }

    static GitBranch branch(JsonFields fields, String id) {
        return new GitBranch(
                fields.string("name"),
                fields.object("commit").string(id),
                fields.optionalFlag("protected").orElse(false));
    }

    static GitCommit commit(JsonFields fields) {
        JsonFields commit = fields.object("commit");
        Optional<JsonFields> author = commit.optionalObject("author");
        return new GitCommit(
                fields.string("sha"),
                commit.string("message"),
                author.flatMap(one -> one.optionalString("name")).orElse(""),
                author.flatMap(one -> one.optionalString("email")).orElse(""),
                author.flatMap(one -> one.optionalString("date")).map(date -> JsonType.TIME.read("date", date)));
    }

    static PullRequest pull(JsonFields fields) {
        boolean isMerged = fields.optionalFlag("merged").orElse(false)
                || fields.optionalString("merged_at").isPresent();
        boolean isOpen = fields.string("state").equals("open");
        return new PullRequest(
                fields.integer("number"),
                fields.string("title"),
                fields.optionalString("body").orElse(""),
                isMerged ? PullRequest.State.MERGED : isOpen ? PullRequest.State.OPEN : PullRequest.State.CLOSED,
                fields.object("head").string("ref"),
                fields.object("base").string("ref"),
                fields.optionalObject("user")
                        .flatMap(user -> user.optionalString("login"))
                        .orElse(""),
                fields.string("html_url"),
                isOpen ? fields.optionalFlag("mergeable") : Optional.empty(),
                isMerged ? fields.optionalString("merge_commit_sha") : Optional.empty());
    }
}
