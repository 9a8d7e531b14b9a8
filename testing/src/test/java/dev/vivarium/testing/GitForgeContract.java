package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// Contract of git hosts, through the API of a server: branches, commits, pull requests, and runs that deliver their
/// work.
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class GitForgeContract {
    private static final String BRANCH = "feature/T-1-change";
    private static final AtomicInteger COUNT = new AtomicInteger();

    private GitHost host;
    private TestServer server;

    abstract GitHost newHost();

    @BeforeAll
    void start() {
        host = newHost();
        server = TestServer.start("--pool-size", "0", "--git-private", "127.0.0.0/8");
        assertThat(saveCredential("forge", host.token()).status()).isEqualTo(201);
        assertThat(saveCredential("wrong", "not-the-token-of-this-host").status())
                .isEqualTo(201);
    }

    @AfterAll
    void stop() {
        server.close();
        host.close();
    }

    private Api.Answer saveCredential(String name, String token) {
        return server.api().post("/api/v1/git/credentials", """
                {"name":"%s","host":"%s","token":"%s","forge":"%s"}""".formatted(name, host.host(), token, host.forge()));
    }

    private String newRepository() {
        String url = host.repositoryWithCommit("shop" + COUNT.incrementAndGet());
        awaitBranch(url, "main");
        return url;
    }

    /// A host may process a push a moment later.
    private void awaitBranch(String url, String branch) {
        await().untilAsserted(() -> assertThat(get("branches", url, "").objects("branches"))
                .extracting(found -> found.string("name"))
                .contains(branch));
    }

    private void change(String url, String branch, String file, String text) {
        host.work(
                url,
                "git checkout -q -b " + branch + "; echo '" + text + "' > " + file
                        + "; git add .; git commit -qm 'change " + file + "'; git push -q origin " + branch);
        awaitBranch(url, branch);
    }

    private static String select(String url) {
        return "url=" + url + "&credential=forge";
    }

    private JsonFields get(String path, String url, String more) {
        var answer = server.api().get("/api/v1/git/" + path + "?" + select(url) + more);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    private Api.Answer post(String path, String url, String more) {
        return server.api().post("/api/v1/git/" + path, """
                {"url":"%s","credential":"forge"%s}""".formatted(url, more));
    }

    private JsonFields open(String url, String head) {
        var answer = post("pulls", url, ",\"title\":\"Change it\",\"body\":\"why\",\"head\":\"" + head + "\"");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    @Test
    void branchesAndCommitsAreListed() {
        String url = newRepository();
        change(url, BRANCH, "a", "1");

        assertThat(get("branches", url, "").objects("branches"))
                .extracting(branch -> branch.string("name"))
                .containsExactlyInAnyOrder("main", BRANCH);
        var commits = get("commits", url, "&branch=" + BRANCH).objects("commits");
        assertThat(commits)
                .extracting(commit -> commit.string("message").strip())
                .containsExactly("change a", "first commit");
        assertThat(commits.getFirst().string("author")).isEqualTo("Dev");
        assertThat(commits.getFirst().string("email")).isEqualTo("dev@example.com");
        assertThat(commits.getFirst().optionalTime("at")).isPresent();
        assertThat(get("commits", url, "&limit=1").objects("commits")).hasSize(1);
    }

    @Test
    void twoBranchesAreCompared() {
        String url = newRepository();
        change(url, BRANCH, "a", "1");

        var comparison = get("compare", url, "&head=" + BRANCH);
        assertThat(comparison.string("base")).isEqualTo("main");
        assertThat(comparison.integer("ahead")).isEqualTo(1);
        assertThat(comparison.objects("commits").getFirst().string("message")).startsWith("change a");
        assertThat(comparison.optionalStrings("files").orElseThrow()).containsExactly("a");
    }

    @Test
    void aPullRequestIsOpenedListedMergedAndItsBranchDeleted() {
        String url = newRepository();
        change(url, BRANCH, "a", "1");
        long number = open(url, BRANCH).integer("number");

        assertThat(get("pulls", url, "").objects("pull_requests"))
                .extracting(pull -> pull.integer("number"))
                .containsExactly(number);
        var pull = get("pulls/" + number, url, "");
        assertThat(pull.string("state")).isEqualTo("open");
        assertThat(pull.string("head")).isEqualTo(BRANCH);
        assertThat(pull.string("base")).isEqualTo("main");
        assertThat(pull.string("title")).isEqualTo("Change it");
        assertThat(pull.string("url")).startsWith("http");

        // A host may compute for a moment whether it can merge.
        await().untilAsserted(() -> {
            var merged = post("pulls/" + number + "/merge", url, ",\"delete_branch\":true");
            assertThat(merged.status()).as(merged.text()).isEqualTo(200);
            assertThat(merged.json().string("state")).isEqualTo("merged");
            assertThat(merged.json().string("merge_commit")).isNotBlank();
        });
        assertThat(get("branches", url, "").objects("branches")).hasSize(1);
        assertThat(get("pulls", url, "").objects("pull_requests")).isEmpty();
        assertThat(get("pulls", url, "&state=all").objects("pull_requests")).hasSize(1);
        assertThat(get("commits", url, "").text()).contains("change a");
    }

    @Test
    void aPullRequestCanBeSquashed() {
        String url = newRepository();
        change(url, BRANCH, "a", "1");
        long number = open(url, BRANCH).integer("number");

        await().untilAsserted(() -> {
            var merged = post("pulls/" + number + "/merge", url, ",\"method\":\"squash\"");
            assertThat(merged.status()).as(merged.text()).isEqualTo(200);
        });
        assertThat(get("commits", url, "").objects("commits")).hasSize(2);
        assertThat(get("branches", url, "").objects("branches")).hasSize(2);
    }

    @Test
    void aSecondPullRequestOfABranchIsRefused() {
        String url = newRepository();
        change(url, BRANCH, "a", "1");
        open(url, BRANCH);

        var second = post("pulls", url, ",\"title\":\"Again\",\"head\":\"" + BRANCH + "\"");
        assertThat(second.status()).isEqualTo(409);
        assertThat(second.json().string("type")).endsWith("remote-refused");
    }

    @Test
    void aPullRequestWithConflictsIsNotMerged() {
        String url = newRepository();
        change(url, BRANCH, "README", "one");
        host.work(url, "echo two > README; git commit -qam two; git push -q origin main");
        long number = open(url, BRANCH).integer("number");

        var answer = post("pulls/" + number + "/merge", url, "");
        assertThat(answer.status()).as(answer.text()).isEqualTo(409);
        assertThat(get("pulls/" + number, url, "").string("state")).isEqualTo("open");
    }

    @Test
    void whatDoesNotExistIsNotFound() {
        String url = newRepository();

        assertThat(server.api().get("/api/v1/git/pulls/99?" + select(url)).status())
                .isEqualTo(404);
        assertThat(server.api()
                        .get("/api/v1/git/commits?branch=none&" + select(url))
                        .status())
                .isEqualTo(404);
        assertThat(server.api()
                        .get("/api/v1/git/compare?head=none&" + select(url))
                        .status())
                .isEqualTo(404);
        assertThat(post("pulls", url, ",\"head\":\"none\"").status()).isEqualTo(404);
        assertThat(server.api()
                        .method("DELETE", "/api/v1/git/branches?name=none&" + select(url))
                        .status())
                .isEqualTo(404);
        assertThat(server.api()
                        .get("/api/v1/git/branches?" + select(url + "-none"))
                        .status())
                .isEqualTo(404);
    }

    @Test
    void aWrongTokenIsReportedWithoutTheToken() {
        String url = newRepository();

        var answer = server.api().get("/api/v1/git/branches?url=" + url + "&credential=wrong");
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().string("type")).endsWith("remote-refused");
        assertThat(answer.text()).doesNotContain("not-the-token-of-this-host");
    }

    @Test
    void aCompletedRunOpensAPullRequestWithItsChanges() {
        String url = newRepository();
        var run = AgentRun.of(server, "echo dark > mode; cat README", """
                "repository":{"url":"%s","ticket":"TICKET-456","credential":"forge","on_success":"pull_request"}""".formatted(url));
        run.awaitStatus("completed");
        assertThat(run.events("agent.output")).contains("hello");

        String path = "/api/v1/runs/" + run.answer().string("run_id") + "/git";
        await().untilAsserted(() -> assertThat(server.api().get(path).text()).contains("\"delivered\""));
        JsonFields work = server.api().get(path).json();
        assertThat(work.string("branch")).isEqualTo("feature/TICKET-456-a-task");
        long number = work.object("pull_request").integer("number");
        assertThat(get("pulls/" + number, url, "").string("title")).isEqualTo("TICKET-456: a task");
        var commit = get("commits", url, "&branch=feature/TICKET-456-a-task")
                .objects("commits")
                .getFirst();
        assertThat(commit.string("commit")).isEqualTo(work.string("commit"));
        assertThat(commit.string("author")).isEqualTo("Vivarium agent (command)");
        assertThat(commit.string("message")).contains("TICKET-456: a task").contains("Co-authored-by: ");
        var comparison = server.api()
                .get("/api/v1/git/compare?run_id=" + work.string("run_id"))
                .json();
        assertThat(comparison.optionalStrings("files").orElseThrow()).containsExactly("mode");
        assertThat(run.events("git."))
                .contains("git.cloned")
                .contains("git.pushed")
                .contains("git.pull_request");
        assertThat(server.api().get("/admin/audit?limit=200").text()).contains("system:git");
    }
}
