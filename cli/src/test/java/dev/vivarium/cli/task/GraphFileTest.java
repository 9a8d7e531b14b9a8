package dev.vivarium.cli.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.vivarium.cli.task.GraphFile.PlannedTask;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GraphFileTest {
    private static final String GRAPH = """
            tasks:
              - name: deploy
                title: Deploy it
                depends_on: [test, lint]
              - name: test
                title: Test it
                runtime: command
                command: [make, test]
                depends_on:
                  - build
                env: {CI: "true"}
                limits:
                  memory_mb: 512
              - name: lint
                title: Lint it
                priority: high
                depends_on: [build]
              - name: build
                title: Build it
                timeout_minutes: 2.5
            """;

    private static GraphFile read(String text) {
        return GraphFile.read("graph.yaml", text);
    }

    private static String error(String text) {
        return catchThrowableOfType(SandboxException.class, () -> read(text))
                .failure()
                .sentence();
    }

    /// A file whose task has these lines.
    private static String task(String... lines) {
        return "tasks:\n  - name: build\n    title: Build it\n"
                + Arrays.stream(lines).map(line -> "    " + line + "\n").collect(Collectors.joining());
    }

    @Test
    void theOrderFollowsDependenciesThenPriorities() {
        assertThat(read(GRAPH).plan())
                .extracting(PlannedTask::step, PlannedTask::label)
                .containsExactly(tuple(1, "build"), tuple(2, "lint"), tuple(2, "test"), tuple(3, "deploy"));
    }

    @Test
    void theRequestHasTheValuesOfTheFile() {
        var tasks = Json.answer(read(GRAPH).json(Optional.empty())).objects("tasks");

        assertThat(tasks.get(1).text()).isEqualTo("""
                {"name":"test","title":"Test it","runtime":"command","command":["make","test"],\
                "depends_on":["build"],"env":{"CI":"true"},"limits":{"memory_mb":512}}""");
        assertThat(tasks.get(3).number("timeout_minutes")).isEqualTo(2.5);
    }

    @Test
    void theOwnerOfTheFilePrecedesTheOption() {
        assertThat(read(GRAPH).json(Optional.of("ann"))).contains("\"user_id\":\"ann\"");
        assertThat(read("user_id: ben\n" + GRAPH).json(Optional.of("ann")))
                .contains("\"user_id\":\"ben\"")
                .doesNotContain("ann");
    }

    @Test
    void jsonIsReadToo() {
        assertThat(read("{\"tasks\": [{\"title\": \"Build it\"}]}").labels()).containsExactly("Build it");
    }

    @Test
    void anAnchorSharesAValue() {
        String text = task("limits: &small {memory_mb: 64}") + "  - title: Test it\n    limits: *small\n";

        assertThat(read(text).json(Optional.empty())).containsSubsequence("{\"memory_mb\":64}", "{\"memory_mb\":64}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            prioritty: high               | graph.yaml:4: task build: prioritty is not a known field; did you mean priority?
            depends: [x]                  | graph.yaml:4: task build: depends is not a known field; did you mean depends_on?
            limits: {memory: 5}           | graph.yaml:4: task build: limits.memory is not a known field; did you mean memory_mb?
            command: make                 | graph.yaml:4: task build: command must be a list
            command: [sleep, 5]           | graph.yaml:4: task build: command[1] must be a string; write "5"
            env: {CI: true}               | graph.yaml:4: task build: env.CI must be a string; write "true"
            env: [CI]                     | graph.yaml:4: task build: env must have fields, as 'key: value'
            priority: urgent              | graph.yaml:4: task build: priority must be one of low, medium, high, critical
            runtime: docker               | graph.yaml:4: task build: runtime must be one of claude, openhands, command
            max_retries: 21               | graph.yaml:4: task build: max_retries must be at most 20
            max_retries: 1.5              | graph.yaml:4: task build: max_retries must be a whole number
            timeout_minutes: 0            | graph.yaml:4: task build: timeout_minutes must be above 0
            timeout_minutes: soon         | graph.yaml:4: task build: timeout_minutes must be a number
            timeout_minutes: .inf         | graph.yaml:4: .inf is not a number of ordinary size
            max_retries: 99999999999999999999 | graph.yaml:4: 99999999999999999999 is not a number of ordinary size
            title: Again                  | graph.yaml:4: title is given twice, also in line 3
            depends_on: [bild]            | graph.yaml:4: task build: depends_on names no task of this file and is no task_id: bild; give the other tasks names
            depends_on: [build]           | graph.yaml:4: task build: depends_on makes a cycle: build → build
            depends_on: build             | graph.yaml:4: task build: depends_on must be a list
            context: [1]                  | graph.yaml:4: task build: context must have fields, as 'key: value'
            image: *none                  | graph.yaml:4: *none has no anchor &none before it
            image: !!set {a}              | graph.yaml:4: task build: image must be a string
            command: [a, ~, b]             | graph.yaml:4: an entry of a list is empty
            """)
    void anInvalidFieldIsReportedWithItsLineAndTask(String line, String message) {
        assertThat(error(task(line))).isEqualTo(message);
    }

    @Test
    void aMissingTitleIsReportedWithTheTask() {
        assertThat(error("tasks:\n  - name: build\n    runtime: claude\n"))
                .isEqualTo("graph.yaml:2: task build: title is required");
        assertThat(error("tasks:\n  - runtime: claude\n")).isEqualTo("graph.yaml:2: task #1: title is required");
    }

    @Test
    void anUnknownDependencyIsReportedWithTheNearestName() {
        assertThat(error(GRAPH.replace("      - build", "      - biuld")))
                .isEqualTo("graph.yaml:10: task test: depends_on names no task of this file and is no task_id: biuld;"
                        + " did you mean build?");
    }

    @Test
    void aDependencyMayBeTheIdOfATask() {
        assertThat(read(task("depends_on: [tskaaaaaaaaaaaaaaaaaaaa]"))
                        .plan()
                        .getFirst()
                        .dependencies())
                .containsExactly("tskaaaaaaaaaaaaaaaaaaaa");
    }

    @Test
    void aCycleIsReportedWithItsPath() {
        assertThat(error(GRAPH.replace("timeout_minutes: 2.5", "depends_on: [deploy]")))
                .isEqualTo("graph.yaml:4: task deploy: depends_on makes a cycle: deploy → test → build → deploy");
    }

    @Test
    void aNameOfTwoTasksIsReportedWithBothLines() {
        assertThat(error(GRAPH.replace("name: lint", "name: test")))
                .isEqualTo("graph.yaml:14: task test: name is the name of two tasks, also in line 5");
        assertThat(error("tasks:\n  - name: tskaaaaaaaaaaaaaaaaaaaa\n    title: x\n"))
                .endsWith("name must not have the form of a task_id");
    }

    @Test
    void aFileWithoutTasksIsRejected() {
        assertThat(error("")).isEqualTo("graph.yaml is empty");
        assertThat(error("# only a comment\n")).isEqualTo("graph.yaml is empty");
        assertThat(error("- title: x\n")).startsWith("graph.yaml:1: the file must have a list of tasks");
        assertThat(error("tasks: {}\n")).startsWith("graph.yaml:1: the file must have a list of tasks");
        assertThat(error("tasks: []\n")).startsWith("graph.yaml:1: tasks must be 1 to 1000 tasks, not 0");
        assertThat(error("task:\n  - title: x\ntasks:\n  - title: x\n"))
                .isEqualTo("graph.yaml:1: task is not a known field; did you mean tasks?");
        assertThat(error("tasks:\n  - build\n")).isEqualTo("graph.yaml:2: task #1 must have fields, as 'key: value'");
    }

    @Test
    void textThatIsNotYamlIsRejectedWithItsLine() {
        assertThat(error("tasks:\n  - title: 'x\n")).startsWith("graph.yaml:3: the text is not YAML: ");
        assertThat(error("tasks:\n\t- title: x\n")).startsWith("graph.yaml:2: the text is not YAML: ");
        assertThat(error("tasks: [{title: x}]\n---\ntasks: []\n"))
                .isEqualTo("graph.yaml:2: the file must have one document");
        assertThat(error("\u0000")).startsWith("graph.yaml is not YAML: ");
    }

    @Test
    void tenThousandTasksAreRejectedAtOnce() {
        String text = "tasks:\n"
                + IntStream.range(0, 10_000)
                        .mapToObj(i ->
                                "  - name: t" + i + "\n    title: T\n    depends_on: [t" + (i + 1) % 10_000 + "]\n")
                        .collect(Collectors.joining());

        assertThat(error(text)).isEqualTo("graph.yaml:1: tasks must be 1 to 1000 tasks, not 10000; split the graph");
    }

    @Test
    void aThousandTasksInARowAreOrdered() {
        String text = "tasks:\n"
                + IntStream.range(0, 1000)
                        .mapToObj(i -> "  - name: t" + i + "\n    title: T\n"
                                + (i < 999 ? "    depends_on: [t" + (i + 1) + "]\n" : ""))
                        .collect(Collectors.joining());

        assertThat(read(text).plan().getFirst().label()).isEqualTo("t999");
        assertThat(error(text + "    depends_on: [t0]\n"))
                .startsWith("graph.yaml:4: task t0: depends_on makes a cycle: t0 → t1 → ")
                .endsWith(" → … (1000 tasks)");
    }

    @Test
    void deepNestingAndLargeExpansionsAreRejected() {
        assertThat(error("tasks: " + "[".repeat(100_000))).contains("is nested too deeply");
        var bomb = new StringBuilder("tasks:\n  - title: x\n    context:\n      a0: &a0 [x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 20; i++) {
            bomb.append("      a%d: &a%d [%s]\n"
                    .formatted(i, i, String.join(", ", Collections.nCopies(8, "*a" + (i - 1)))));
        }
        assertThat(error(bomb.toString())).contains("has more than 200000 values");
        assertThat(error("tasks: &a\n  - *a\n")).contains("*a has no anchor &a before it");
    }

    @Test
    void anErrorOfTheServerGetsItsLineAndTask() {
        var graph = read(GRAPH);

        assertThat(located(graph, "tasks[1].limits.memory_mb"))
                .isEqualTo("graph.yaml:12: task test: limits.memory_mb is wrong");
        assertThat(located(graph, "tasks[3]")).isEqualTo("graph.yaml:18: task build is wrong");
        assertThat(located(graph, "user_id")).isEqualTo("graph.yaml: user_id is wrong");
        var other = new SandboxException(new Failure.NotAllowed("no"));
        assertThat(graph.located(other)).isSameAs(other);
    }

    private static String located(GraphFile graph, String field) {
        return graph.located(SandboxException.invalid(field, "is wrong"))
                .failure()
                .sentence();
    }
}
