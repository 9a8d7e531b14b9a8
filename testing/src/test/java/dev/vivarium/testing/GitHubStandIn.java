package dev.vivarium.testing;

import com.sun.net.httpserver.HttpExchange;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.core.JsonGenerator;

/// Stand-in for GitHub, made from the published description of its REST API, version 2022-11-28. The repositories are
/// real. It has the address of the API of GitHub Enterprise: `/api/v3`.
final class GitHubStandIn implements GitHost {
    private static final Pattern PATH = Pattern.compile("/api/v3/repos/([^/]+)/([^/]+)(/.*)?");

    private final PlainGitHost git = new PlainGitHost();
    private final Map<String, List<Pull>> pulls = new HashMap<>();

    private static final class Pull {
        private final int number;
        private final JsonFields wanted;
        private String state = "open";
        private String merge = "";

        Pull(int number, JsonFields wanted) {
            this.number = number;
            this.wanted = wanted;
        }

        String head() {
            return wanted.string("head");
        }

        String base() {
            return wanted.string("base");
        }
    }

    /// A response of the API.
    private record Answer(int status, String body) {
        static Answer of(int status, Consumer<JsonGenerator> fields) {
            return new Answer(status, new String(Json.bytes(fields), StandardCharsets.UTF_8));
        }

        static Answer message(int status, String message) {
            return of(status, out -> {
                out.writeStringProperty("message", message);
                out.writeStringProperty("documentation_url", "https://docs.github.com/rest");
            });
        }
    }

    GitHubStandIn() {
        git.server().createContext("/api/v3/", this::handle);
    }

    @Override
    public URI uri() {
        return git.uri();
    }

    @Override
    public String token() {
        return git.token();
    }

    @Override
    public String forge() {
        return "github";
    }

    @Override
    public String newRepository(String name) {
        return git.newRepository(name);
    }

    private synchronized void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Answer answer =
                    ("Bearer " + token()).equals(exchange.getRequestHeaders().getFirst("Authorization"))
                            ? answer(exchange, body)
                            : Answer.message(401, "Bad credentials");
            byte[] bytes = answer.body.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json; charset=utf-8");
            exchange.sendResponseHeaders(answer.status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private Answer answer(HttpExchange exchange, String body) {
        Matcher path = PATH.matcher(exchange.getRequestURI().getPath());
        if (!path.matches()) {
            return Answer.message(404, "Not Found");
        }
        var repository = new Repository(path.group(2), path.group(3) == null ? "" : path.group(3), query(exchange));
        try {
            return switch (exchange.getRequestMethod()) {
                case "GET" -> get(repository);
                case "POST" -> open(repository, Json.answer(body));
                case "PUT" -> merge(repository, Json.answer(body));
                case "DELETE" -> delete(repository);
                default -> Answer.message(404, "Not Found");
            };
        } catch (IllegalStateException e) {
            return Answer.message(404, "Not Found");
        }
    }

    private record Repository(String name, String rest, Map<String, String> query) {}

    private static Map<String, String> query(HttpExchange exchange) {
        String text = exchange.getRequestURI().getRawQuery();
        return text == null
                ? Map.of()
                : Stream.of(text.split("&"))
                        .map(pair -> pair.split("=", 2))
                        .collect(Collectors.toMap(
                                pair -> pair[0], pair -> URLDecoder.decode(pair[1], StandardCharsets.UTF_8)));
    }

    private String git(Repository repository, String... arguments) {
        var command = new ArrayList<>(
                List.of("git", "-C", git.directory(repository.name).toString()));
        command.addAll(List.of(arguments));
        return GitHost.run(command).strip();
    }

    private Answer get(Repository repository) {
        String rest = repository.rest;
        if (rest.isEmpty()) {
            return Answer.of(200, out -> out.writeStringProperty("default_branch", "main"));
        }
        if (rest.equals("/branches")) {
            return page(
                    repository,
                    git(repository, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
                            .lines()
                            .map(name -> branch(repository, name))
                            .toList());
        }
        if (rest.startsWith("/branches/")) {
            return new Answer(200, branch(repository, rest.substring("/branches/".length())));
        }
        if (rest.equals("/commits")) {
            String branch = repository.query.getOrDefault("sha", "main");
            return page(repository, commits(repository, "refs/heads/" + branch));
        }
        if (rest.startsWith("/compare/")) {
            return compare(repository, rest.substring("/compare/".length()).split("\\.\\.\\."));
        }
        return rest.equals("/pulls") ? pulls(repository) : new Answer(200, json(repository, find(repository)));
    }

    private static Answer page(Repository repository, List<String> all) {
        int size = Integer.parseInt(repository.query.getOrDefault("per_page", "30"));
        int page = Integer.parseInt(repository.query.getOrDefault("page", "1"));
        String some = all.stream().skip((long) (page - 1) * size).limit(size).collect(Collectors.joining(","));
        return new Answer(200, "[" + some + "]");
    }

    private String branch(Repository repository, String name) {
        String commit = git(repository, "rev-parse", "--verify", "-q", "refs/heads/" + name);
        return Answer.of(200, out -> {
                    out.writeStringProperty("name", name);
                    out.writeObjectPropertyStart("commit");
                    out.writeStringProperty("sha", commit);
                    out.writeEndObject();
                    out.writeBooleanProperty("protected", false);
                })
                .body;
    }

    private List<String> commits(Repository repository, String range) {
        return git(repository, "log", "--format=%H%x1f%an%x1f%ae%x1f%aI%x1f%B%x1e", range)
                .lines()
                .collect(Collectors.joining("\n"))
                .transform(text -> Stream.of(text.split("\u001e")))
                .map(String::strip)
                .filter(text -> !text.isEmpty())
                .map(text -> commit(text.split("\u001f")))
                .toList();
    }

    private static String commit(String[] parts) {
        return Answer.of(200, out -> {
                    out.writeStringProperty("sha", parts[0]);
                    out.writeObjectPropertyStart("commit");
                    out.writeStringProperty("message", parts[4]);
                    out.writeObjectPropertyStart("author");
                    out.writeStringProperty("name", parts[1]);
                    out.writeStringProperty("email", parts[2]);
                    out.writeStringProperty("date", parts[3]);
                    out.writeEndObject();
                    out.writeEndObject();
                })
                .body;
    }

    private Answer compare(Repository repository, String[] range) {
        String two = "refs/heads/" + range[0] + "..refs/heads/" + range[1];
        String three = "refs/heads/" + range[0] + "...refs/heads/" + range[1];
        List<String> commits = commits(repository, two);
        List<String> files =
                git(repository, "diff", "--name-only", three).lines().toList();
        return Answer.of(200, out -> {
            out.writeNumberProperty("ahead_by", commits.size());
            out.writeName("commits");
            out.writeRawValue("[" + String.join(",", commits) + "]");
            out.writeArrayPropertyStart("files");
            for (String file : files) {
                out.writeStartObject();
                out.writeStringProperty("filename", file);
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }

    private List<Pull> of(Repository repository) {
        return pulls.computeIfAbsent(repository.name, _ -> new ArrayList<>());
    }

    private Pull find(Repository repository) {
        String number = repository.rest.replaceFirst("/pulls/([0-9]+).*", "$1");
        return of(repository).stream()
                .filter(pull -> Integer.toString(pull.number).equals(number))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no such pull request"));
    }

    private Answer pulls(Repository repository) {
        String state = repository.query.getOrDefault("state", "open");
        String head = repository.query.getOrDefault("head", "").replaceFirst("^[^:]*:", "");
        return page(
                repository,
                of(repository).stream()
                        .filter(pull -> state.equals("all") || pull.state.equals(state))
                        .filter(pull -> head.isEmpty() || pull.head().equals(head))
                        .map(pull -> json(repository, pull))
                        .toList());
    }

    private String json(Repository repository, Pull pull) {
        return Answer.of(200, out -> {
                    out.writeNumberProperty("number", pull.number);
                    out.writeStringProperty("title", pull.wanted.string("title"));
                    out.writeStringProperty(
                            "body", pull.wanted.optionalString("body").orElse(""));
                    out.writeStringProperty("state", pull.state);
                    reference(out, "head", pull.head());
                    reference(out, "base", pull.base());
                    out.writeObjectPropertyStart("user");
                    out.writeStringProperty("login", "ada");
                    out.writeEndObject();
                    out.writeStringProperty("html_url", uri() + "/team/" + repository.name + "/pull/" + pull.number);
                    if (pull.merge.isEmpty()) {
                        out.writeNullProperty("merged_at");
                    } else {
                        out.writeStringProperty("merged_at", "2026-01-01T10:00:00Z");
                        out.writeStringProperty("merge_commit_sha", pull.merge);
                    }
                })
                .body;
    }

    private static void reference(JsonGenerator out, String name, String ref) {
        out.writeObjectPropertyStart(name);
        out.writeStringProperty("ref", ref);
        out.writeEndObject();
    }

    private Answer open(Repository repository, JsonFields wanted) {
        var pull = new Pull(of(repository).size() + 1, wanted);
        boolean exists = of(repository).stream()
                .anyMatch(other -> other.state.equals("open") && other.head().equals(pull.head()));
        if (exists) {
            return Answer.message(422, "Validation Failed");
        }
        of(repository).add(pull);
        return new Answer(201, json(repository, pull));
    }

    private Answer merge(Repository repository, JsonFields wanted) {
        Pull pull = find(repository);
        String base = git(repository, "rev-parse", "refs/heads/" + pull.base());
        String head = git(repository, "rev-parse", "refs/heads/" + pull.head());
        String tree;
        try {
            tree = git(repository, "merge-tree", "--write-tree", base, head);
        } catch (IllegalStateException e) {
            return Answer.message(405, "Pull Request is not mergeable");
        }
        boolean isMerge = wanted.string("merge_method").equals("merge");
        var command = new ArrayList<>(List.of("-c", "user.name=ada", "-c", "user.email=ada@example.com"));
        command.addAll(List.of("commit-tree", tree, "-p", base));
        command.addAll(isMerge ? List.of("-p", head) : List.of());
        command.addAll(List.of("-m", pull.wanted.string("title")));
        pull.merge = git(repository, command.toArray(String[]::new));
        pull.state = "closed";
        git(repository, "update-ref", "refs/heads/" + pull.base(), pull.merge);
        return Answer.of(200, out -> {
            out.writeStringProperty("sha", pull.merge);
            out.writeBooleanProperty("merged", true);
        });
    }

    private Answer delete(Repository repository) {
        String ref = repository.rest.replaceFirst("^/git/", "");
        git(repository, "rev-parse", "--verify", "-q", ref);
        git(repository, "update-ref", "-d", ref);
        return new Answer(204, "");
    }

    @Override
    public void close() {
        git.close();
    }
}
