package dev.vivarium.core.guard.trajectory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Run;
import dev.vivarium.model.TaskConstraints;
import dev.vivarium.model.ToolCall;
import dev.vivarium.model.ToolResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Steps that are hard to record: processes, refused calls, long waits, and unusual paths and hosts.
class TrajectoryTest {
    private static final Instant START = Instant.parse("2026-01-01T10:00:00Z");

    private final Trajectory trajectory = trajectory(TaskConstraints.NONE);
    private long seq;

    private static Trajectory trajectory(TaskConstraints constraints) {
        return Trajectory.begin(
                new RunLimits(START, Run.Runtime.COMMAND, Optional.empty(), Optional.empty(), constraints), 0);
    }

    private void call(Trajectory to, String id, String tool, String command, int exitCode, String output) {
        var call = new ToolCall(id, tool, "", Optional.of(command), Optional.empty(), Optional.empty());
        to.apply(new Step.Called(++seq, START, call));
        to.apply(new Step.Returned(++seq, START, new ToolResult(id, exitCode != 0, output)));
    }

    private void process(String command, int exitCode) {
        call(trajectory, Steps.PROCESS + " " + seq, Steps.PROCESS, command, exitCode, "");
    }

    private static List<String> rules(Trajectory of, Instant now) {
        return Rule.findings(of, now).stream().map(Finding::rule).toList();
    }

    @Test
    void aProcessThatFailsWithoutAPauseIsFound() {
        for (int i = 0; i < RepeatedFailure.PROCESSES - 1; i++) {
            process("make all", 2);
        }
        assertThat(rules(trajectory, START)).isEmpty();
        process("make all", 2);
        assertThat(rules(trajectory, START)).containsExactly("repeated_failure");
    }

    @Test
    void aScriptThatWaitsInALoopIsHealthy() {
        for (int i = 0; i < 200; i++) {
            process("curl -sf http://localhost:8080/health", 7);
            process("/usr/bin/sleep 1", 0);
        }

        assertThat(rules(trajectory, START)).isEmpty();
    }

    @Test
    void aCallThatTheWorkerRefusedForAMessageDoesNotCount() {
        for (int i = 0; i < 4; i++) {
            call(trajectory, "c" + i, "Bash", "make", 2, "it failed");
        }
        call(trajectory, "c4", "Bash", "make", 2, "A new message has arrived. Read it first.");
        assertThat(rules(trajectory, START)).isEmpty();
        call(trajectory, "c5", "Bash", "make", 2, "it failed");
        assertThat(rules(trajectory, START)).containsExactly("repeated_failure");
    }

    @Test
    void anAgentThatOnlyThinksForALongTimeIsFoundAndAMessageOfAPersonStartsAnew() {
        for (int i = 0; i < NoProgress.SOME_MODEL_CALLS; i++) {
            trajectory.apply(new Step.Modelled(++seq, START, 0));
        }
        Instant later = START.plus(NoProgress.TIME);
        assertThat(rules(trajectory, later.minusSeconds(1))).isEmpty();
        assertThat(rules(trajectory, later)).containsExactly("no_progress");
        trajectory.apply(new Step.Guided(++seq, later));
        assertThat(rules(trajectory, later)).isEmpty();
    }

    @Test
    void aClockThatJumpsBackFindsNothing() {
        assertThat(rules(trajectory, START.minus(Duration.ofDays(1)))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "src/a.py, src, true",
        "src/a.py, /workspace/src/, true",
        "srcs/a.py, src, false",
        "notes/a.md, notes/*.md, true",
        "notes/deep/a.md, notes/*.md, false",
        "notes/deep/a.md, notes/**, true",
        "a.py, ., true",
        "a.py, [, false",
        ".git/index, src, true",
        ".github/workflows/x.yml, src, false"
    })
    void changesOutsideOfTheAllowedPathsAreFound(String path, String allowed, boolean isAllowed) {
        var constraints = new TaskConstraints(
                Optional.empty(), Optional.of(List.of(allowed)), Optional.empty(), Optional.empty());
        var limited = trajectory(constraints);
        limited.apply(new Step.Changed(1, START, path, true, Optional.of("abc")));

        assertThat(rules(limited, START).isEmpty()).isEqualTo(isAllowed);
    }

    @ParameterizedTest
    @CsvSource({
        "curl https://example.com/x, true",
        "curl https://user:secret@example.com:8443/x, true",
        "curl https://example.com.evil.net, false",
        "curl http://localhost:3000, true",
        "git clone ssh://git@api.example.org/x, true",
        "git clone ssh://git@example.org/x, false",
        "echo nothing, true"
    })
    void hostsOutsideOfTheAllowedHostsAreFound(String command, boolean isAllowed) {
        var constraints = new TaskConstraints(
                Optional.empty(),
                Optional.empty(),
                Optional.of(List.of("example.com", "*.example.org")),
                Optional.empty());
        var limited = trajectory(constraints);
        call(limited, "c", "Bash", command, 0, "");

        assertThat(rules(limited, START).isEmpty()).isEqualTo(isAllowed);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pytest -q",
                "python3 -m unittest",
                "make -j4 test",
                "npm test",
                "npm run build",
                "cargo test",
                "go vet ./...",
                "./check.sh",
                "cd a && mvn -q verify",
                "ruff check ."
            })
    void aCommandThatTestsOrBuildsIsACheck(String command) {
        var call = new ToolCall("c", "Bash", "", Optional.of(command), Optional.empty(), Optional.empty());

        assertThat(Call.of(1, call).isCheck()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ls", "cat Makefile", "test -e file", "git checkout main", "echo latest"})
    void anOtherCommandIsNoCheck(String command) {
        var call = new ToolCall("c", "Bash", "", Optional.of(command), Optional.empty(), Optional.empty());

        assertThat(Call.of(1, call).isCheck()).isFalse();
    }

    @Test
    void errorsAreEqualIfOnlyTheirNumbersDiffer() {
        var one = ErrorText.of("Ran 1 test in 0.003s\nValueError: 17 at 0x7f3a\n1 failed, 3 passed in 0.2s");
        var other = ErrorText.of("Ran 1 test in 0.009s\nValueError: 18 at 0x7f3b\n1 failed, 3 passed in 0.9s");

        assertThat(one.key()).isEqualTo(other.key());
        assertThat(one.line()).isEqualTo("ValueError: 17 at 0x7f3a");
        assertThat(ErrorText.of("KeyError: 'a'").key())
                .isNotEqualTo(ErrorText.of("KeyError: 'b'").key());
    }

    @Test
    void similarTextsShareTheirShingles() {
        var one = Similarity.shingles("Add a button that exports all data as CSV");
        var other = Similarity.shingles("add a button, that exports all data as CSV.");

        assertThat(Similarity.jaccard(one, other)).isEqualTo(1);
        assertThat(Similarity.jaccard(one, Similarity.shingles("Remove the button")))
                .isZero();
        assertThat(Similarity.jaccard(one, Similarity.shingles(""))).isZero();
        assertThat(Similarity.jaccard(Similarity.shingles("task 1"), Similarity.shingles("task 2")))
                .isLessThan(Overlaps.SAME_TEXT);
    }
}
