package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.testing.TestServer;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Runs with the runtime `command`, which needs no image.
@Timeout(300)
class RunCommandsTest {
    private static final String LISTENING = """
            read task
            while read line; do
              case "$line" in *'"use the other API"'*) echo '{"type":"result","summary":"the other one it is"}'; exit;; esac
            done""";

    private static TestServer server;

    private final String thread = "cli-" + UUID.randomUUID();

    @TempDir
    private Path home;

    private CliRunner ann;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void prepare() {
        ann = new CliRunner(server, home);
    }

    @Test
    void runPrintsEventsAndReturnsTheOutcome() {
        assertThat(run("echo working; echo '{\"type\":\"result\",\"summary\":\"all done\"}'"))
                .isZero();
        assertThat(ann.out())
                .containsSubsequence(
                        "starts   command", "prints   working", "done     all done", "ended    completed, $0");
        assertThat(ann.err()).contains(" on thread " + thread);
        assertThat(ann.viv("runs", "--status", "completed")).isZero();
        assertThat(ann.out()).contains("SANDBOX\tTHREAD\tRUNTIME", thread + "\tcommand\tcompleted\t$0.0000\t0");
    }

    @Test
    void failedRunPrintsTheReasonAndReturnsOne() {
        assertThat(run("echo the disk is on fire >&2; exit 7")).isEqualTo(ExitCode.FAILURE);
        assertThat(ann.out()).contains("failed   ", "the disk is on fire", "ended    failed");
    }

    @Test
    void messageReachesTheAgent() {
        assertThat(ann.viv("run", "-d", "Ask", "--runtime", "command", "--thread", thread, "--", "sh", "-c", LISTENING))
                .isZero();
        String sandbox = ann.out().strip();
        await().until(() -> ann.viv("events", thread, "--type", "agent.started") == 0
                && ann.out().contains("agent.started"));
        assertThat(ann.viv("say", sandbox, "use the other API")).isZero();
        await().until(() ->
                ann.viv("events", sandbox, "--story") == 0 && ann.out().contains("ended    completed"));
        assertThat(ann.out()).contains("you      use the other API", "done     the other one it is");
        assertThat(ann.viv("events", sandbox, "--json", "--type", "user.message"))
                .isZero();
        assertThat(ann.out().lines()).singleElement().asString().contains("\"content\":\"use the other API\"");
    }

    @Test
    void messageWithoutAnAgentPrintsAWarning() {
        String sandbox = server.api().session();

        assertThat(ann.viv("say", sandbox, "hello")).isZero();
        assertThat(ann.out()).startsWith("msg");
        assertThat(ann.err()).contains("no agent runs in " + sandbox);
        assertThat(ann.viv("say", sandbox, "hello", "--json")).isZero();
        assertThat(ann.out()).contains("\"listening\":false");
        assertThat(ann.err()).isEmpty();
    }

    @Test
    void eventsBeyondOnePageArePrinted() {
        String sandbox = server.api().session();
        String large = "{\"event_type\":\"large\",\"event_data\":{\"text\":\"" + "x".repeat(100_000) + "\"}}";
        String ten = "[" + (large + ",").repeat(9) + large + "]";
        for (int i = 0; i < 10; i++) {
            assertThat(server.api()
                            .post("/api/v1/sandboxes/" + sandbox + "/events", ten)
                            .status())
                    .isEqualTo(201);
        }

        assertThat(ann.viv("events", sandbox, "--json", "--type", "large")).isZero();
        assertThat(ann.out().lines()).hasSize(100);
    }

    @Test
    void repeatedFinalMessageIsPrintedOnce() {
        String message = "{\"type\":\"event\",\"event_type\":\"agent.message\",\"data\":{\"text\":\"It is done.\"}}";
        assertThat(run("echo '" + message + "'; echo '{\"type\":\"result\",\"summary\":\"It is done.\"}'"))
                .isZero();
        assertThat(ann.out()).containsSubsequence("says     It is done.", "\ndone", "\nended    completed");
        assertThat(ann.out()).containsOnlyOnce("It is done.");
    }

    @Test
    void reviewIsListedAndAnsweredOnce() {
        String ask = "{\"type\":\"review\",\"id\":\"r\",\"reason\":\"conflict\",\"description\":\"Which?\","
                + "\"context\":{\"options\":[\"ours\"]}}";
        String asking = "read task; echo '" + ask + "'; read answer; echo \"got $answer\"";
        ann.viv("run", "-d", "Ask", "--runtime", "command", "--thread", thread, "--", "sh", "-c", asking);
        String sandbox = ann.out().strip();
        await().until(() -> ann.viv("review", thread) == 0 && ann.out().contains("pending"));
        assertThat(ann.out()).contains("REVIEW\tSTATUS\tDECISION", "conflict\tWhich?");

        assertThat(ann.viv("review", sandbox, "perhaps")).isNotZero();
        assertThat(ann.err()).contains("ours");
        assertThat(ann.viv("review", sandbox, "ours", "--comment", "it is newer"))
                .isZero();
        assertThat(ann.out()).isEqualTo("answered\n");
        await().until(() ->
                ann.viv("events", sandbox, "--story") == 0 && ann.out().contains("ended    completed"));
        assertThat(ann.out()).contains("asks     Which?", "answer   ours: it is newer");
        assertThat(ann.viv("review", sandbox, "approve")).isNotZero();
        assertThat(ann.err())
                .matches("viv: no review of " + sandbox
                        + " is pending: the last, rev[a-z0-9]+, is answered with ours\n");
        assertThat(ann.viv("review", sandbox, "--json")).isZero();
        assertThat(ann.out().lines()).singleElement().asString().contains("\"decision\":\"ours\"");
    }

    @Test
    void stopEndsTheRunAndKeepsItsSandbox() {
        ann.viv("run", "-d", "Wait", "--runtime", "command", "--thread", thread, "--", "sleep", "1000");
        String sandbox = ann.out().strip();

        assertThat(ann.viv("stop", thread)).isZero();
        assertThat(ann.out()).isEqualTo("failed: stopped by request\n");
        assertThat(ann.viv("runs", "--thread", thread)).isZero();
        assertThat(ann.out()).contains(sandbox, "failed (aborted)", "Wait");
        assertThat(ann.viv("stop", sandbox)).isEqualTo(ExitCode.CONFLICT);
        assertThat(ann.viv("exec", thread, "--", "true")).isZero();
    }

    @Test
    void runHasItsGuardianPolicyAndItsTicket() {
        assertThat(ann.viv(
                        "run",
                        "-d",
                        "x",
                        "--json",
                        "--runtime",
                        "command",
                        "--guardian",
                        "watch",
                        "--ticket",
                        "T-1",
                        "--",
                        "true"))
                .as(ann.err())
                .isZero();
        JsonFields started = Json.answer(ann.out());

        assertThat(ann.viv("runs", started.string("run_id"), "--json")).isZero();
        assertThat(ann.out()).contains("\"guardian\":\"watch\"", "\"ticket_id\":\"T-1\"");
    }

    @Test
    void runWithAnInvalidRepositoryIsRejected() {
        assertThat(repository("https://git.example.com/ada/shop", "none")).isNotZero();
        assertThat(ann.err()).contains("none");
        ann.types("a-token-of-a-forge\n").viv("git", "credential", "add", "forge", "git.example.com");
        assertThat(repository("https://git.example.org/ada/shop", "forge")).isNotZero();
        assertThat(ann.err()).contains("git.example.com");
        assertThat(repository("file:///etc", "forge")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("repository.url");
        assertThat(ann.viv("run", "x", "--base", "main")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("--repository and --credential are needed together");
        assertThat(ann.viv("run", "x", "--guardian", "sleep")).isEqualTo(ExitCode.USAGE);
    }

    private int repository(String url, String credential) {
        return ann.viv(
                "run", "x", "--runtime", "command", "--repository", url, "--credential", credential, "--", "true");
    }

    @Test
    void runThatCannotStartPrintsAHint() {
        assertThat(ann.viv("run", "x", "--runtime", "claude")).isNotZero();
        assertThat(ann.err()).contains("viv image build worker");
        assertThat(ann.viv("run", "x", "--runtime", "command")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("command must name a program");
    }

    @Test
    void unknownSandboxIsReportedWithAHint() {
        String unknown = "sbxaaaaaaaaaaaaaaaaaaaa";

        assertThat(ann.viv("say", unknown, "hello")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.err()).contains("there is no sandbox '" + unknown + "'", "viv runs");
        assertThat(ann.viv("review", unknown, "approve")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.err()).contains("there is no sandbox '" + unknown + "'", "viv runs");
        assertThat(ann.viv("say", thread, "hello")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.err()).contains("no sandbox '" + thread + "', and no thread of that name", "viv runs");
        assertThat(ann.viv("run", "x", "--runtime", "command", "--resume-from", unknown, "--", "true"))
                .isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.err()).contains("resume_from", unknown);
    }

    @Test
    void answerWithoutAPendingReviewFails() {
        String sandbox = server.api().session();

        assertThat(ann.viv("review", sandbox, "approve")).isEqualTo(ExitCode.CONFLICT);
        assertThat(ann.err())
                .isEqualTo("viv: no review of " + sandbox + " is pending: the agent has requested no review\n");
    }

    private int run(String script) {
        return ann.viv("run", "A task", "--runtime", "command", "--thread", thread, "--", "sh", "-c", script);
    }
}
