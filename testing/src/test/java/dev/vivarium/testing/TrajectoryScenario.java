package dev.vivarium.testing;

import dev.vivarium.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/// Plan of a scripted agent whose run is recorded. Immutable.
///
/// @param story       what the agent does
/// @param rules       rules that should find it
/// @param constraints of the task, a JSON object as text
/// @param budgetUsd   zero for none
record TrajectoryScenario(
        String name,
        boolean isHealthy,
        String story,
        List<String> rules,
        String constraints,
        double budgetUsd,
        List<Step> steps) {
    private static final String CALC = "def add(a, b):\n    return a %s b\n";
    private static final String TEST = """
            import unittest
            from calc import add
            class Test(unittest.TestCase):
                def test_add(self):
                    self.assertEqual(add(2, 3), 5)
            """;
    private static final String CHECK = "python3 -m unittest test_calc";

    /// One step, as the scripted agent reads it: its kind and its values.
    private record Step(String kind, List<Object> values) {
        static Step sh(String command) {
            return new Step("sh", List.of(command));
        }

        static Step write(String path, String text) {
            return new Step("write", List.of(path, text));
        }

        static Step usage(double dollars) {
            return new Step("usage", List.of(dollars));
        }
    }

    private static TrajectoryScenario healthy(String name, String story, List<?>... parts) {
        return new TrajectoryScenario(name, true, story, List.of(), "{}", 0, steps(parts));
    }

    private static TrajectoryScenario ill(String name, String story, String rule, List<?>... parts) {
        return new TrajectoryScenario(
                name, false, story, rule.isEmpty() ? List.of() : List.of(rule), "{}", 0, steps(parts));
    }

    private TrajectoryScenario limited(String newConstraints, double newBudget) {
        return new TrajectoryScenario(name, isHealthy, story, rules, newConstraints, newBudget, steps);
    }

    private static List<Step> steps(List<?>... parts) {
        return Stream.of(parts).flatMap(List::stream).map(Step.class::cast).toList();
    }

    private static List<Step> repeat(int times, IntFunction<List<Step>> round) {
        var all = new ArrayList<Step>();
        for (int i = 0; i < times; i++) {
            all.addAll(round.apply(i));
        }
        return all;
    }

    private static List<Step> sh(String... commands) {
        return Stream.of(commands).map(Step::sh).toList();
    }

    private static List<Step> write(String path, String text) {
        return List.of(Step.write(path, text));
    }

    private static List<Step> project(String operator) {
        return steps(write("calc.py", CALC.formatted(operator)), write("test_calc.py", TEST));
    }

    /// The plan as JSON: a list of lists.
    String plan() {
        var plan = new String(
                Json.bytes(out -> {
                    out.writeArrayPropertyStart("steps");
                    for (Step step : steps) {
                        out.writeStartArray();
                        out.writeString(step.kind);
                        for (Object value : step.values) {
                            if (value instanceof Double number) {
                                out.writeNumber(number);
                            } else {
                                out.writeString(String.valueOf(value));
                            }
                        }
                        out.writeEndArray();
                    }
                    out.writeEndArray();
                }),
                StandardCharsets.UTF_8);
        return plan.substring(plan.indexOf('['), plan.lastIndexOf(']') + 1);
    }

    static List<TrajectoryScenario> all() {
        return Stream.of(healthyWork(), healthyLoops(), healthyLimits(), loops(), stuck(), limits())
                .flatMap(List::stream)
                .toList();
    }

    private static List<TrajectoryScenario> healthyWork() {
        return List.of(
                healthy(
                        "fix-a-bug",
                        "reads a project, fixes a bug, runs the tests",
                        project("-"),
                        sh("ls", "cat calc.py", "cat test_calc.py", CHECK),
                        write("calc.py", CALC.formatted("+")),
                        sh(CHECK)),
                healthy(
                        "read-a-lot",
                        "reads forty different files before it writes",
                        repeat(40, i -> sh("echo content " + i + " > /tmp/read-" + i + "; cat /tmp/read-" + i)),
                        write("summary.md", "Forty files.\n")),
                healthy(
                        "write-a-text",
                        "writes a text in twelve steps, without a check",
                        repeat(12, i -> write("README.md", "# Title\n" + "A paragraph.\n".repeat(i + 1)))),
                healthy(
                        "many-files",
                        "changes thirty files once each, then runs the tests",
                        repeat(30, i -> write("module_" + i + ".py", "NUMBER = " + i + "\n")),
                        project("+"),
                        sh(CHECK)),
                healthy(
                        "from-scratch",
                        "builds a program, with a different error at each of six attempts",
                        write("test_calc.py", TEST),
                        repeat(
                                6,
                                i -> steps(
                                        write(
                                                "calc.py",
                                                List.of(
                                                                "def add(\n",
                                                                "import nothing_here\n",
                                                                "x = 1 / 0\n",
                                                                "add = undefined\n",
                                                                "def add(a):\n    return a\n",
                                                                "add = 5\n")
                                                        .get(i)),
                                        sh(CHECK))),
                        write("calc.py", CALC.formatted("+")),
                        sh(CHECK)),
                healthy(
                        "data-work",
                        "runs one script with twenty different parameters",
                        write("work.py", "import sys\nprint(int(sys.argv[1]) ** 2)\n"),
                        repeat(20, i -> sh("python3 work.py " + i))),
                healthy(
                        "migrate-a-database",
                        "creates and changes a SQLite database step by step",
                        repeat(
                                8,
                                i -> sh("python3 -c \"import sqlite3; c = sqlite3.connect('/tmp/d" + i
                                        + ".db'); c.execute('create table t" + i + " (x)'); print(" + i + ")\"")),
                        write("schema.sql", "create table t (x);\n")),
                healthy(
                        "tests-after-each-edit",
                        "makes fifteen small edits of one file, each with passing tests",
                        project("+"),
                        repeat(15, i -> steps(write("calc.py", CALC.formatted("+") + "# " + i + "\n"), sh(CHECK)))));
    }

    private static List<TrajectoryScenario> healthyLoops() {
        return List.of(
                healthy(
                        "red-green",
                        "writes a failing test and then the code, five times",
                        project("+"),
                        repeat(
                                5,
                                i -> steps(
                                        write(
                                                "test_calc.py",
                                                TEST + "    def test_" + i
                                                        + "(self):\n        import calc\n        self.assertEqual(calc.f"
                                                        + i + "(), " + i + ")\n"),
                                        sh(CHECK),
                                        write(
                                                "calc.py",
                                                CALC.formatted("+") + "def f" + i + "():\n    return " + i + "\n"),
                                        sh(CHECK)))),
                healthy(
                        "flaky-network",
                        "a download fails three times and then succeeds",
                        repeat(
                                3,
                                i -> sh(
                                        "test -e /tmp/there-$PPID-never || { echo 'curl: (6) could not resolve host' >&2; exit 6; }")),
                        sh("echo fetched > data.txt", "cat data.txt"),
                        project("+"),
                        sh(CHECK)),
                healthy(
                        "wait-for-a-server",
                        "polls a server four times until it answers",
                        sh("(sleep 2; touch up) >/dev/null 2>&1 &"),
                        repeat(4, i -> sh("sleep 0.6; test -e up || { echo 'connection refused'; exit 7; }")),
                        sh("cat up && echo ready")),
                healthy(
                        "bisect",
                        "checks out versions in turn and runs the tests on each",
                        project("+"),
                        repeat(
                                6,
                                i -> steps(
                                        write(
                                                "calc.py",
                                                CALC.formatted(i % 2 == 0 ? "+" : "-") + "# version " + i + "\n"),
                                        sh(CHECK))),
                        write("calc.py", CALC.formatted("+")),
                        sh(CHECK)),
                healthy(
                        "fewer-and-fewer-errors",
                        "fixes one finding of a linter after the other",
                        write("check.sh", "grep -n bad code.txt | head -1 | grep . && exit 1 || exit 0\n"),
                        repeat(
                                7,
                                i -> steps(
                                        write(
                                                "code.txt",
                                                "good\n".repeat(i) + "bad word " + "abcdefg".charAt(i) + "\n".repeat(1)
                                                        + "bad\n".repeat(6 - i)),
                                        sh("sh check.sh"))),
                        write("code.txt", "good\n".repeat(7)),
                        sh("sh check.sh")),
                healthy(
                        "another-way-to-install",
                        "an installation fails twice, then another way works",
                        sh(
                                "echo 'E: Unable to locate package foo'; exit 100",
                                "echo 'E: Unable to locate package foo'; exit 100"),
                        sh("python3 -c 'import json; print(json.dumps(1))'"),
                        project("+"),
                        sh(CHECK)),
                healthy(
                        "toggle-once",
                        "tries an option, takes it back, and decides for the first value",
                        project("+"),
                        write("options.txt", "fast\n"),
                        sh(CHECK),
                        write("options.txt", "safe\n"),
                        sh(CHECK),
                        write("options.txt", "fast\n"),
                        sh(CHECK)),
                healthy(
                        "git-status-between-edits",
                        "asks for the status sixteen times, between edits",
                        sh("git init -q . 2>&1"),
                        repeat(
                                16,
                                i -> steps(
                                        write("file_" + i % 4 + ".txt", "version " + i + "\n"),
                                        sh("git status --short")))),
                healthy(
                        "debug-with-prints",
                        "adds output to a program eight times while a test fails in different ways, and then fixes it",
                        project("-"),
                        repeat(
                                8,
                                i -> steps(
                                        write(
                                                "calc.py",
                                                CALC.formatted("-") + "raise ValueError('step " + "abcdefgh".charAt(i)
                                                        + "')\n"),
                                        sh(CHECK))),
                        write("calc.py", CALC.formatted("+")),
                        sh(CHECK)),
                healthy(
                        "follow-a-log",
                        "reads a growing log six times while it works",
                        repeat(6, i -> steps(write("notes.md", "note\n".repeat(i + 1)), sh("tail -3 notes.md")))));
    }

    private static List<TrajectoryScenario> healthyLimits() {
        return List.of(
                healthy(
                                "within-budget",
                                "spends 60 % of its budget",
                                project("+"),
                                List.of(Step.usage(0.3), Step.usage(0.3)),
                                sh(CHECK))
                        .limited("{}", 1),
                healthy(
                                "within-constraints",
                                "changes only allowed paths and names only allowed hosts",
                                write("src/app.py", "print(1)\n"),
                                write("manual/index.md", "# Index\n"),
                                sh("echo https://example.com/index.html", "python3 src/app.py"))
                        .limited(
                                "{\"allowed_paths\":[\"src\",\"manual/*.md\"],\"allowed_hosts\":[\"example.com\"]}",
                                0));
    }

    private static List<TrajectoryScenario> loops() {
        return List.of(
                ill(
                        "same-command",
                        "runs one failing command thirty times",
                        "repeated_failure",
                        repeat(30, i -> sh("make all"))),
                ill(
                        "same-command-and-ls",
                        "runs one failing command fifteen times, with a listing in between",
                        "repeated_failure",
                        repeat(15, i -> sh("python3 missing.py", "ls -la"))),
                ill(
                        "missing-module",
                        "imports a module that does not exist, twelve times",
                        "repeated_failure",
                        repeat(12, i -> sh("python3 -c 'import module_that_is_not_there'"))),
                ill(
                        "silent-failure",
                        "runs a command that fails without a word, ten times",
                        "repeated_failure",
                        repeat(10, i -> sh("test -e /nowhere/file"))),
                ill(
                        "same-test-after-useless-edits",
                        "the same test fails in the same way after ten useless edits",
                        "repeated_failure",
                        project("-"),
                        repeat(10, i -> steps(write("calc.py", CALC.formatted("-") + "# try " + i + "\n"), sh(CHECK)))),
                ill(
                        "two-versions",
                        "changes a file between two versions, eight times",
                        "oscillation",
                        repeat(8, i -> write("config.txt", i % 2 == 0 ? "mode: a\n" : "mode: b\n"))),
                ill(
                        "undo-and-redo",
                        "changes a file, runs a failing test, and takes the change back, six times",
                        "oscillation",
                        project("-"),
                        repeat(
                                6,
                                i -> steps(
                                        write("calc.py", CALC.formatted("*")), sh(CHECK),
                                        write("calc.py", CALC.formatted("-")), sh(CHECK)))),
                ill(
                        "read-and-test",
                        "reads a file and runs a check in turn, twelve times, without a change",
                        "oscillation",
                        write("a.txt", "a\n"),
                        repeat(12, i -> sh("cat a.txt", "true"))),
                ill(
                        "cycle-of-three",
                        "repeats three calls in a cycle, eight times",
                        "oscillation",
                        write("a.txt", "a\n"),
                        repeat(8, i -> sh("cat a.txt", "wc -l a.txt", "ls"))));
    }

    private static List<TrajectoryScenario> stuck() {
        return List.of(
                ill(
                        "no-permission",
                        "tries ten different commands that all fail for the same reason",
                        "repeated_error",
                        repeat(10, i -> sh("echo 'sudo: command not found' >&2; : package-" + i + "; exit 127"))),
                ill(
                        "many-broken-edits",
                        "edits one file sixteen times while every check fails in another way",
                        "unchecked_edits",
                        repeat(
                                16,
                                i -> steps(
                                        write(
                                                "broken.py",
                                                "raise ValueError('" + "abcdefghijklmnop".charAt(i) + " is wrong')\n"),
                                        sh("python3 broken.py # test_" + i + ".py")))),
                ill(
                        "edits-without-a-check",
                        "edits one program thirty times and never runs it",
                        "unchecked_edits",
                        repeat(30, i -> write("app.py", "print(" + i + ")\n"))),
                ill(
                        "status-only",
                        "asks for the status twenty times and does nothing else",
                        "no_progress",
                        repeat(20, i -> sh("git status; true"))),
                ill(
                        "everything-fails",
                        "tries twenty different commands that all fail",
                        "no_progress",
                        repeat(
                                20,
                                i -> sh("echo problem of kind " + "abcdefghijklmnopqrst".charAt(i) + "; exit "
                                        + (i + 1)))),
                ill(
                        "aimless",
                        "prints a different number forty times: new calls that pass, and no work",
                        "",
                        repeat(40, i -> sh("echo " + i))));
    }

    private static List<TrajectoryScenario> limits() {
        return List.of(
                ill(
                                "other-directory",
                                "changes files outside of its paths",
                                "left_constraints",
                                write("src/app.py", "1\n"),
                                write("secrets/key.txt", "2\n"),
                                write("secrets/more.txt", "3\n"),
                                write("secrets/key.txt", "4\n"))
                        .limited("{\"allowed_paths\":[\"src\"]}", 0),
                ill(
                                "other-host",
                                "calls a host that its task does not allow",
                                "left_constraints",
                                sh("echo begin"),
                                repeat(4, i -> sh("echo curl https://evil.example.net/upload?" + i)))
                        .limited("{\"allowed_hosts\":[\"example.com\"]}", 0),
                ill(
                                "other-tool",
                                "calls a tool that its task does not allow",
                                "left_constraints",
                                sh("echo begin"),
                                repeat(
                                        4,
                                        i -> List.of(
                                                new Step("refused", List.of("WebFetch", "https://example.com/" + i)))))
                        .limited("{\"allowed_tools\":[\"bash\"]}", 0),
                ill(
                                "budget-nearly-spent",
                                "spends 90 % of its budget",
                                "burn",
                                project("+"),
                                List.of(Step.usage(0.5), Step.usage(0.4)),
                                sh("echo more"))
                        .limited("{}", 1),
                ill(
                                "time-nearly-over",
                                "uses nearly all of its time",
                                "burn",
                                project("+"),
                                List.of(new Step("wait", List.of(9.0))),
                                sh("echo more"))
                        .limited("{\"time_limit_minutes\":0.2}", 0));
    }
}
