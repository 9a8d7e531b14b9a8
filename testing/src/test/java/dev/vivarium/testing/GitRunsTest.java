package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.JsonFields;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Runs on git repositories, with real git, in sandboxes without isolation.
@Timeout(180)
class GitRunsTest {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static PlainGitHost host;
    private static TestServer server;

    @BeforeAll
    static void start() {
        host = new PlainGitHost();
        server = TestServer.start("--pool-size", "0", "--git-private", "127.0.0.0/8", "--git-timeout-seconds", "20");
        save("forge", host.host(), PlainGitHost.TOKEN);
    }

    @AfterAll
    static void stop() {
        server.close();
        host.close();
    }

    private static void save(String name, String where, String token) {
        var answer = server.api().post("/api/v1/git/credentials", """
                {"name":"%s","host":"%s","token":"%s","forge":"none"}""".formatted(name, where, token));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    }

    private static String newRepository() {
        return host.repositoryWithCommit("repo" + COUNT.incrementAndGet());
    }

    private static String on(String url, String more) {
        return "\"repository\":{\"url\":\"" + url + "\",\"credential\":\"forge\"" + more + "}";
    }

    private static JsonFields work(AgentRun run) {
        return server.api()
                .get("/api/v1/runs/" + run.answer().string("run_id") + "/git")
                .json();
    }

    private static void awaitDelivery(AgentRun run, String status) {
        await().untilAsserted(() ->
                assertThat(work(run).string("status")).as(work(run).text()).isEqualTo(status));
    }

    private static String branches(String url) {
        return host.work(url, "git branch -r --format='%(refname:lstrip=3)'");
    }

    @Test
    void anAgentPushesItsBranchAndNoOther() {
        String url = newRepository();
        var run = AgentRun.of(
                server,
                "git log --oneline | wc -l; echo 1 > a; git add a; git commit -qm work;"
                        + " git push -q 2>&1; git push origin HEAD:main 2>&1; git push origin HEAD:refs/tags/v1 2>&1;"
                        + " git push origin :refs/heads/feature/T-1-a-task 2>&1; true",
                on(url, ",\"ticket\":\"T-1\""));
        run.awaitStatus("completed");

        assertThat(run.events("agent.output"))
                .contains("[remote rejected]")
                .contains("this run may push only to feature/T-1-a-task")
                .contains("a run may not delete its branch");
        assertThat(branches(url)).contains("main").contains("feature/T-1-a-task");
        assertThat(host.work(url, "git tag; git log --oneline origin/main"))
                .doesNotContain("work")
                .doesNotContain("v1");
        assertThat(host.work(url, "git log -1 --format=%B%an origin/feature/T-1-a-task"))
                .contains("Co-authored-by: ")
                .contains("Vivarium agent (command)");
        awaitDelivery(run, "closed");
    }

    /// Git sends a pack of more than one megabyte in chunks, after a request without commands.
    @Test
    void aLargePackIsPushedAndCloned() {
        String url = newRepository();
        var run = AgentRun.of(
                server,
                "head -c 5000000 /dev/urandom > big; git add big; git commit -qm big; git push -q 2>&1; git hash-object big",
                on(url, ",\"branch\":\"topic/1\""));
        run.awaitStatus("completed");
        var next = AgentRun.of(server, "git hash-object big", on(url, ",\"branch\":\"topic/1\",\"depth\":1"));
        next.awaitStatus("completed");

        String hash = host.work(url, "git rev-parse origin/topic/1:big").strip();
        assertThat(run.events("agent.output")).contains(hash);
        assertThat(next.events("agent.output")).contains(hash);
    }

    @Test
    void theUrlOfTheRemoteWorksEverywhereInTheSandboxUntilTheRunEnds() {
        String url = newRepository();
        var run = AgentRun.of(
                server,
                "cd /; git ls-remote " + url + " main 2>&1; git ls-remote " + url + ".git main 2>&1;"
                        + " git ls-remote " + url + "-other 2>&1; true",
                on(url, ""));
        run.awaitStatus("completed");

        assertThat(run.events("agent.output").split("refs/heads/main", -1)).hasSize(3);
        awaitDelivery(run, "closed");
        String after = server.api()
                .execute(run.id(), "git ls-remote " + url + " main 2>&1")
                .string("stdout");
        assertThat(after)
                .contains("no active run of this sandbox works on this repository")
                .doesNotContain("heads/main");
    }

    @Test
    void aSecondCloneTransfersNoObjects() {
        String url = newRepository();
        AgentRun.of(server, "cat README", on(url, "")).awaitStatus("completed");
        int packs = host.packs.get();
        var second = AgentRun.of(server, "cat README; git log --oneline", on(url, ",\"depth\":0"));
        second.awaitStatus("completed");

        assertThat(second.events("agent.output")).contains("hello").contains("first commit");
        assertThat(host.packs.get()).isEqualTo(packs);
    }

    @Test
    void aCloneHasTheNewestCommits() {
        String url = newRepository();
        AgentRun.of(server, "cat README", on(url, "")).awaitStatus("completed");
        host.work(url, "echo newer > README; git commit -qam newer; git push -q origin main");
        var second = AgentRun.of(server, "cat README", on(url, ""));
        second.awaitStatus("completed");

        assertThat(second.events("agent.output")).contains("newer");
    }

    @Test
    void aCompletedRunPushesAllChangesAndARunWithoutChangesNothing() {
        String url = newRepository();
        var run = AgentRun.of(
                server, "echo 1 > new; rm README", on(url, ",\"branch\":\"topic/1\",\"on_success\":\"push\""));
        var idle = AgentRun.of(server, "true", on(url, ",\"branch\":\"topic/2\",\"on_success\":\"push\""));
        awaitDelivery(run, "delivered");
        awaitDelivery(idle, "closed");

        assertThat(host.work(url, "git ls-tree --name-only origin/topic/1")).isEqualTo("new\n");
        assertThat(work(run).string("commit"))
                .isEqualTo(host.work(url, "git rev-parse origin/topic/1").strip());
        assertThat(work(idle).string("error")).contains("no change");
        assertThat(branches(url)).doesNotContain("topic/2");
    }

    /// An earlier server was killed between the end of the run and the push.
    @Test
    void theNextServerFinishesADelivery() {
        String url = newRepository();
        var run = AgentRun.of(server, "echo 1 > new", on(url, ",\"branch\":\"topic/1\""));
        run.awaitStatus("completed");
        awaitDelivery(run, "closed");
        server.restart(store -> store.write(sql -> sql.update(
                "update run_repositories set status = 'delivering', next_attempt_at = 1, on_success = 'push'"
                        + " where run_id = ?",
                run.answer().string("run_id"))));

        awaitDelivery(run, "delivered");
        assertThat(branches(url)).contains("topic/1");
    }

    @Test
    void aFailedRunDeliversNothing() {
        String url = newRepository();
        var run =
                AgentRun.of(server, "echo 1 > new; exit 1", on(url, ",\"branch\":\"topic/1\",\"on_success\":\"push\""));
        run.awaitStatus("failed");

        awaitDelivery(run, "closed");
        assertThat(branches(url)).doesNotContain("topic/1");
    }

    @Test
    void aPersonCommitsAndPushesTheWorkOfARun() {
        String url = newRepository();
        var run =
                AgentRun.of(server, "until [ -e go ]; do sleep 0.05; done; exit 1", on(url, ",\"branch\":\"topic/1\""));
        String path = "/api/v1/runs/" + run.answer().string("run_id") + "/git";
        await().untilAsserted(() -> assertThat(server.api().get(path).status()).isEqualTo(200));
        assertThat(server.api().method("POST", path + "/push").json().optionalString("commit"))
                .isEmpty();
        server.api().execute(run.id(), "cd repo*; touch go");
        run.awaitStatus("failed");

        var commit = server.api()
                .post(path + "/commit", "{\"message\":\"half done\"}")
                .json();
        var pushed = server.api().method("POST", path + "/push");
        assertThat(pushed.status()).as(pushed.text()).isEqualTo(200);
        assertThat(pushed.json().string("commit")).isEqualTo(commit.string("commit"));
        assertThat(host.work(url, "git log -1 --format=%s origin/topic/1")).isEqualTo("half done\n");
    }

    @Test
    void aTaskOfTheQueueWorksOnItsRepository() {
        String url = newRepository();
        var answer = server.api()
                .post("/api/v1/tasks", """
                {"title":"Dark mode, please!","runtime":"command","command":["sh","-c","echo 1 > dark"],%s}""".formatted(on(url, ",\"ticket\":\"TICKET-7\",\"on_success\":\"push\"")));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        assertThat(answer.json().object("repository").string("ticket")).isEqualTo("TICKET-7");
        String task = "/api/v1/tasks/" + answer.json().string("task_id");

        await().untilAsserted(() ->
                assertThat(server.api().get(task).json().string("status")).isEqualTo("completed"));
        await().untilAsserted(() -> assertThat(branches(url)).contains("feature/TICKET-7-dark-mode-please"));
    }

    @Test
    void anInlineCredentialIsStoredUnderANewName() {
        String url = newRepository();
        var run = AgentRun.of(server, "cat README", """
                "repository":{"url":"%s","credential":{"token":"%s","forge":"none"}}""".formatted(url, PlainGitHost.TOKEN));
        run.awaitStatus("completed");

        assertThat(run.events("agent.output")).contains("hello");
        assertThat(work(run).string("credential")).startsWith("inline-");
        assertThat(server.api().get("/api/v1/git/credentials").text())
                .contains("inline-")
                .doesNotContain(PlainGitHost.TOKEN);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            "url":"file:///etc"                                            | repository.url
            "url":"ssh://git@github.com/a/b"                               | repository.url
            "url":"git@github.com:a/b.git"                                 | repository.url
            "url":"https://user:secret@github.com/a/b"                     | repository.url
            "url":"https://token@github.com/a/b"                           | repository.url
            "url":"https://github.com/a/../b"                              | repository.url
            "url":"https://github.com/a/%2e%2e/b"                          | repository.url
            "url":"https://github.com/a/b?x=1"                             | repository.url
            "url":"https://github.com"                                     | repository.url
            "url":"https://github.com/a/b","ticket":"../../etc"            | repository.ticket
            "url":"https://github.com/a/b","ticket":"a b"                  | repository.ticket
            "url":"https://github.com/a/b","ticket":"a\\u0007b"            | repository.ticket
            "url":"https://github.com/a/b","ticket":""                     | repository.ticket
            "url":"https://github.com/a/b","base":"a..b"                   | repository.base
            "url":"https://github.com/a/b","base":"-x"                     | repository.base
            "url":"https://github.com/a/b","branch":"x.lock"               | repository.branch
            "url":"https://github.com/a/b","branch":"a//b"                 | repository.branch
            "url":"https://github.com/a/b","branch":"refs/heads/x"         | repository.branch
            "url":"https://github.com/a/b","branch":"x@{1}"                | repository.branch
            "url":"https://github.com/a/b","branch":"m","base":"m"         | repository.branch
            "url":"https://github.com/a/b","on_success":"merge"            | repository.on_success
            "url":"https://github.com/a/b","depth":-1                      | depth
            "url":"https://github.com/a/b","unknown":1                     | unknown
            "url":"https://github.com/a/b"                                 | repository.credential
            """)
    void anInvalidRepositoryIsRefusedWithTheField(String fields, String field) {
        String body = AgentRun.body("true", "\"repository\":{\"credential\":\"forge\"," + fields + "}");
        var answer = server.api().post(AgentRun.SANDBOXES, body);

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.json().string("field")).contains(field);
        assertThat(answer.text()).doesNotContain("secret");
    }

    @Test
    void aVeryLongTicketIsRefused() {
        String more = on("https://github.com/a/b", ",\"ticket\":\"" + "T".repeat(10_000) + "\"");
        assertThat(server.api()
                        .post(AgentRun.SANDBOXES, AgentRun.body("true", more))
                        .status())
                .isEqualTo(422);
    }

    private static String failure(String more) {
        var run = AgentRun.of(server, "true", more);
        run.awaitStatus("failed");
        return run.run().string("reason");
    }

    @Test
    void aMissingBaseAndAMissingRepositoryFailTheRunWithTheReason() {
        String url = newRepository();

        assertThat(failure(on(url, ",\"base\":\"none\"")))
                .contains("the branch none of " + url)
                .contains("does not exist");
        assertThat(failure(on(host.uri() + "/team/none", "")))
                .contains("/team/none")
                .contains("does not exist");
        assertThat(failure(on(host.newRepository("empty"), ""))).contains("to start from");
    }

    @Test
    void aWrongTokenFailsTheRunWithTheReason() {
        save("expired", host.host(), "expired-token-1234");
        String reason = failure("\"repository\":{\"url\":\"" + newRepository() + "\",\"credential\":\"expired\"}");

        assertThat(reason).contains("'expired' is not accepted").doesNotContain("expired-token-1234");
    }

    @Test
    void anUnknownCredentialIsNotFound() {
        var answer = server.api().post(AgentRun.SANDBOXES, AgentRun.body("true", """
                        "repository":{"url":"https://github.com/a/b","credential":"none"}"""));

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().string("type")).endsWith("no-such-credential");
    }

    @Test
    void aPrivateAddressFailsTheRunUnlessItIsPermitted() {
        save("inner", "169.254.169.254", "metadata-token-1");
        String reason = failure("\"repository\":{\"url\":\"https://169.254.169.254/a/b\",\"credential\":\"inner\"}");

        assertThat(reason).contains("not public").contains("git-private");
    }

    @Test
    void aRemoteThatHangsFailsTheRunInTime() {
        try (var silent = new PlainGitHost();
                var other = TestServer.start(
                        "--pool-size", "0", "--git-private", "127.0.0.0/8", "--git-timeout-seconds", "0.5")) {
            silent.fallSilent();
            other.api().post("/api/v1/git/credentials", """
                    {"name":"forge","host":"%s","token":"%s"}""".formatted(silent.host(), PlainGitHost.TOKEN));
            var run = AgentRun.of(other, "true", on(silent.uri() + "/team/repo", ""));

            run.awaitStatus("failed");
            assertThat(run.run().string("reason")).contains("did not respond within");
        }
    }

    @Test
    void usersSeeOnlyTheirOwnCredentialsAndRepositories() {
        Api ann = server.api().as("ann");

        assertThat(ann.get("/api/v1/git/credentials").text()).doesNotContain("forge");
        assertThat(ann.method("DELETE", "/api/v1/git/credentials/forge").status())
                .isEqualTo(404);
        assertThat(ann.get("/api/v1/git/branches?credential=forge&url=" + host.uri() + "/team/x")
                        .status())
                .isEqualTo(404);
        assertThat(ann.post(AgentRun.SANDBOXES, AgentRun.body("true", on(host.uri() + "/team/x", "")))
                        .status())
                .isEqualTo(404);
    }
}
