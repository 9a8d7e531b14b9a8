package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tasks with the runtime `command`, or for a worker outside of the server. Each test is a user of its own.
@Timeout(300)
class TaskCommandsTest {
    private static final Pattern ID = Pattern.compile("tsk[a-z0-9]{20}");
    private static final String GRAPH = """
            tasks:
              - name: test
                title: Test it
                runtime: command
                command: [sh, -c, "echo tested"]
                depends_on: [build]
              - name: build
                title: Build it
                runtime: command
                command: [sh, -c, "echo built"]
            """;

    private static TestServer server;

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
        var admin = new CliRunner(server, home);
        assertThat(admin.viv("keys", "issue", "ann-" + home.getFileName())).isZero();
        ann = new CliRunner(server, home).with("VIV_API_KEY", admin.out().strip());
    }

    private String add(String... options) {
        var words = new ArrayList<>(List.of("task", "add", "A task", "--runtime", "none"));
        words.addAll(List.of(options));
        assertThat(ann.viv(words.toArray(String[]::new))).as(ann.err()).isZero();
        return ann.out().strip();
    }

    private String file(String text) throws IOException {
        return Files.writeString(home.resolve("graph.yaml"), text).toString();
    }

    private List<JsonFields> json(String... words) {
        assertThat(ann.viv(words)).as(ann.err()).isZero();
        return ann.out().lines().map(Json::answer).toList();
    }

    @Test
    void aGraphIsAddedAndAwaited() throws IOException {
        assertThat(ann.viv("task", "apply", file(GRAPH), "--wait"))
                .as(ann.err())
                .isZero();
        assertThat(ann.out().lines().toList())
                .satisfiesExactly(
                        head -> assertThat(head).isEqualTo("NAME\tTASK\tSTATUS\tATTEMPTS\tCOST\tREASON"),
                        test -> assertThat(test).matches("test\ttsk\\w{20}\tcompleted\t1\t\\$0.0000\t"),
                        build -> assertThat(build).startsWith("build\t").contains("\tcompleted\t"));
        assertThat(ann.err()).containsSubsequence("2 tasks", "build: completed", "test: completed");

        String id = ID.matcher(ann.out()).results().findFirst().orElseThrow().group();
        assertThat(ann.viv("task", "graph", id)).isZero();
        assertThat(ann.out().lines().skip(1).toList())
                .satisfiesExactly(
                        build -> assertThat(build).matches("tsk\\w{20}\tcompleted\tBuild it"),
                        test -> assertThat(test).isEqualTo(id + "\tcompleted\t  Test it"));
        assertThat(json("task", "graph", id, "--json")).hasSize(2);
        assertThat(ann.viv("task", "show", id)).isZero();
        assertThat(ann.out())
                .contains(
                        "title       Test it",
                        "status      completed",
                        "runtime     command: sh -c echo tested",
                        "after       tsk")
                .contains("ATTEMPT\tSTATUS\tRUN", "1\tcompleted\trun");
        assertThat(json("task", "show", id, "--json").getFirst().objects("attempts"))
                .hasSize(1);
    }

    @Test
    void aWaitForAGraphThatFailsReturnsOne() throws IOException {
        String graph = GRAPH.replace("echo built\"]", "echo no >&2; exit 3\"]\n    max_retries: 0");

        assertThat(ann.viv("task", "apply", file(graph), "--wait")).isEqualTo(ExitCode.FAILURE);
        assertThat(ann.out())
                .containsPattern("test\ttsk\\w{20}\tblocked\t0")
                .containsPattern("build\ttsk\\w{20}\tfailed\t1");
        String failed =
                json("task", "ls", "--status", "failed", "--json").getFirst().string("task_id");
        assertThat(ann.viv("task", "show", failed)).isZero();
        assertThat(ann.out()).contains("status      failed", "unknown (");
    }

    @Test
    void aWaitPrintsChangesAsJson() throws IOException {
        var lines = json("task", "apply", file(GRAPH), "--wait", "--json");

        assertThat(lines.subList(0, 2)).extracting(line -> line.string("name")).containsExactly("test", "build");
        assertThat(lines.getLast().string("name")).isEqualTo("test");
        assertThat(lines.getLast().string("status")).isEqualTo("completed");
        assertThat(ann.err()).isEmpty();
    }

    @Test
    void aDryRunPrintsTheOrderAndAddsNothing() throws IOException {
        assertThat(ann.viv("task", "apply", file(GRAPH), "--dry-run")).isZero();
        assertThat(ann.out()).isEqualTo("""
                STEP\tNAME\tPRIORITY\tAFTER\tTITLE
                1\tbuild\tmedium\t-\tBuild it
                2\ttest\tmedium\tbuild\tTest it
                """);
        assertThat(json("task", "apply", file(GRAPH), "-n", "--json").getLast().text())
                .isEqualTo("{\"step\":2,\"name\":\"test\",\"title\":\"Test it\",\"priority\":\"medium\","
                        + "\"depends_on\":[\"build\"]}");
        assertThat(json("task", "ls", "--json")).isEmpty();
    }

    @Test
    void anInvalidFileAddsNothing() throws IOException {
        assertThat(ann.viv("task", "apply", file(GRAPH + "    depends_on: [test]\n")))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("graph.yaml:6: task test: depends_on makes a cycle: test → build → test");
        assertThat(ann.viv("task", "apply", file(GRAPH + "    env: {SANDBOX_TOKEN: x}\n"), "--json"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("graph.yaml:11: task build: env", "\"code\":\"invalid-request\"");
        assertThat(ann.viv("task", "apply", file(GRAPH + "    depends_on: [tskaaaaaaaaaaaaaaaaaaaa]\n")))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("graph.yaml:11: task build: depends_on ", "tskaaaaaaaaaaaaaaaaaaaa");
        assertThat(ann.viv("task", "apply", home.resolve("none.yaml").toString()))
                .isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.viv("task", "apply", home.toString())).isEqualTo(ExitCode.FAILURE);
        Files.write(home.resolve("graph.yaml"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
        assertThat(ann.viv("task", "apply", home.resolve("graph.yaml").toString()))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("is not UTF-8 text");
        assertThat(json("task", "ls", "--json")).isEmpty();
    }

    @Test
    void aGraphIsReadFromStandardInput() {
        ann.types("tasks: [{title: For a worker}]");

        assertThat(ann.viv("task", "apply", "-")).as(ann.err()).isZero();
        assertThat(ann.out()).matches("NAME\tTASK\nFor a worker\ttsk\\w{20}\n");
        ann.types("tasks: [{titel: For a worker}]");
        assertThat(ann.viv("task", "apply", "-")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("standard input:1: task #1: titel is not a known field; did you mean title?");
    }

    @Test
    void aTaskIsAddedWithItsOptions() {
        assertThat(ann.viv(
                        "task",
                        "add",
                        "First line\nSecond line",
                        "--runtime",
                        "command",
                        "--priority",
                        "high",
                        "--agent-type",
                        "coder",
                        "--ticket",
                        "T-1",
                        "--phase",
                        "p1",
                        "--timeout",
                        "30m",
                        "--queue-timeout",
                        "2h",
                        "--retries",
                        "1",
                        "--budget",
                        "2.5",
                        "-e",
                        "A=b",
                        "--json",
                        "--",
                        "sh",
                        "-c",
                        "exit 0"))
                .as(ann.err())
                .isZero();
        JsonFields task = Json.answer(ann.out());

        assertThat(task.string("title")).isEqualTo("First line");
        assertThat(task.string("description")).isEqualTo("First line\nSecond line");
        assertThat(task.text())
                .contains("\"priority\":\"high\"", "\"agent_type\":\"coder\"", "\"ticket_id\":\"T-1\"")
                .contains("\"phase_id\":\"p1\"", "\"timeout_minutes\":30", "\"queue_timeout_minutes\":120")
                .contains("\"max_retries\":1", "\"budget_usd\":2.5", "[\"sh\",\"-c\",\"exit 0\"]");
    }

    @Test
    void aTaskIsShownWithItsGuardianAndItsRepository() {
        ann.types("a-token-of-a-forge\n").viv("git", "credential", "add", "forge", "git.example.com");
        String first = add();
        ann.viv(
                "task",
                "add",
                "A task",
                "--after",
                first,
                "--guardian",
                "stop",
                "--repository",
                "https://git.example.com/ada/shop",
                "--credential",
                "forge",
                "--base",
                "main",
                "--ticket",
                "SHOP-12",
                "--on-success",
                "pull_request",
                "--runtime",
                "command",
                "--",
                "true");
        String id = ann.out().strip();

        assertThat(ann.viv("task", "show", id)).as(ann.err()).isZero();
        assertThat(ann.out())
                .contains("guardian    stop")
                .contains("repository  https://git.example.com/ada/shop, base main, ticket SHOP-12, credential forge,"
                        + " on success pull_request");
        JsonFields task = json("task", "show", id, "--json").getFirst();
        assertThat(task.string("guardian")).isEqualTo("stop");
        assertThat(task.object("repository").string("ticket")).isEqualTo("SHOP-12");
    }

    @Test
    void aTaskIsShownWithItsInheritanceAndItsRace() throws IOException {
        String graph = """
                tasks:
                  - {name: first, title: First}
                  - name: second
                    title: Second
                    runtime: command
                    command: ["true"]
                    depends_on: [first]
                  - title: Third
                    runtime: command
                    command: ["true"]
                    depends_on: [second]
                    inherit: {from: second, files: true}
                    attempts: 3
                    check: [make, test]
                """;
        var added = json("task", "apply", file(graph), "--json");
        String second = added.get(1).string("task_id");
        String third = added.get(2).string("task_id");

        assertThat(ann.viv("task", "show", third)).isZero();
        assertThat(ann.out())
                .contains("guardian    that of the server")
                .contains("inherit     files of " + second)
                .contains("race        3 attempts, check: make test\n");
        JsonFields task = json("task", "show", third, "--json").getFirst();
        assertThat(task.object("inherit").string("from")).isEqualTo(second);
        assertThat(task.object("race").integer("attempts")).isEqualTo(3);
    }

    @Test
    void theWinnerOfARaceIsShown() throws IOException {
        String race = """
                tasks:
                  - title: Race
                    runtime: command
                    command: ["true"]
                    attempts: 2
                    check: ["true"]
                """;
        assertThat(ann.viv("task", "apply", file(race), "--wait")).as(ann.err()).isZero();
        String id = json("task", "ls", "--json").getFirst().string("task_id");

        assertThat(ann.viv("task", "show", id)).isZero();
        assertThat(ann.out())
                .containsPattern("race        2 attempts, check: true; attempt [12] won\n")
                .containsPattern("\n[12]\tcompleted\t");
    }

    @Test
    void tasksAreListedCancelledAndRetried() {
        String first = add();
        String second = add("--after", first);

        assertThat(ann.viv("task", "ls")).isZero();
        assertThat(ann.out())
                .startsWith(
                        "TASK\tSTATUS\tPRIORITY\tRUNTIME\tATTEMPTS\tCOST\tCREATED\tTITLE\n" + second + "\tpending\t")
                .contains("\n" + first + "\tready\tmedium\t-\t0\t$0.0000\t");
        assertThat(ann.viv("task", "ls", "-q", "--limit", "1")).isZero();
        assertThat(ann.out()).isEqualTo(second + "\n");
        assertThat(ann.viv("task", "cancel", first)).isZero();
        assertThat(ann.out()).isEqualTo(first + "  cancelled\n");
        assertThat(ann.viv("task", "ls", "--status", "blocked", "-q")).isZero();
        assertThat(ann.out()).isEqualTo(second + "\n");
        assertThat(ann.viv("task", "retry", first)).isZero();
        assertThat(ann.out()).isEqualTo(first + "  ready\n");
        assertThat(ann.viv("task", "cancel", first, "--dependents", "cancel")).isZero();
        assertThat(ann.viv("task", "show", second)).isZero();
        assertThat(ann.out()).contains("status      cancelled", "runtime     a worker outside of the server");
        assertThat(ann.viv("task", "cancel", first)).isEqualTo(ExitCode.CONFLICT);
    }

    @Test
    void aRunningTaskIsCancelled() {
        assertThat(ann.viv("task", "add", "Wait", "--runtime", "command", "--", "sleep", "1000"))
                .isZero();
        String id = ann.out().strip();
        await().until(() ->
                json("task", "show", id, "--json").getFirst().string("status").equals("running"));

        assertThat(ann.viv("task", "cancel", id)).isZero();
        await().until(() -> json("task", "show", id, "--json")
                .getFirst()
                .objects("attempts")
                .getFirst()
                .string("status")
                .equals("cancelled"));
    }

    @Test
    void invalidArgumentsAreReported() {
        String unknown = "tskaaaaaaaaaaaaaaaaaaaa";

        assertThat(ann.viv("task")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("a subcommand is missing: add, apply, ls");
        assertThat(ann.viv("task", "show", unknown)).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.err()).contains("there is no task '" + unknown + "'", "viv task ls");
        assertThat(ann.viv("task", "ls", "--status", "lost")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.viv("task", "add", "x", "--priority", "urgent")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.viv("task", "add", "x", "--guardian", "sleep")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.viv("task", "add", "x", "--repository", "https://git.example.com/ada/shop"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("--repository and --credential are needed together");
        assertThat(ann.viv("task", "add", "x", "--runtime", "docker")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("--runtime must be claude, openhands, command or none");
        assertThat(ann.viv("task", "add", "x", "--runtime", "none", "--retries", "21"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("max_retries");
        assertThat(ann.viv("task", "add", "x", "--runtime", "none", "--after", unknown))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains(unknown);
        assertThat(ann.viv("task", "add", "x", "--runtime", "command")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("command must name a program");
    }
}
