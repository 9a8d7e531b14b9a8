package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.json.ExecJson;
import dev.vivarium.json.Json;
import dev.vivarium.model.ExecEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExecuteApiTest {
    private static final String SSE = "text/event-stream";
    private static final String NDJSON = "application/x-ndjson";

    @RegisterExtension
    static final SharedServer SERVER = SharedServer.with();

    private final Api api = SERVER.api();
    private final String session = api.session();

    @Test
    void commandResultHasTheDocumentedFields() {
        var result = api.execute(session, "echo out; echo err >&2; exit 3");

        assertThat(result.integer("exit_code")).isEqualTo(3);
        assertThat(result.string("stdout")).isEqualTo("out\n");
        assertThat(result.string("stderr")).isEqualTo("err\n");
        assertThat(result.integer("execution_time_ms")).isNotNegative();
        assertThat(result.flag("timed_out")).isFalse();
        assertThat(result.flag("truncated")).isFalse();
        assertThat(result.string("cause")).isEqualTo("exited");
    }

    @Test
    void filesPersistBetweenCommands() {
        api.execute(session, "mkdir d && cd d && echo 1 > f");

        assertThat(api.execute(session, "cat d/f").string("stdout")).isEqualTo("1\n");
    }

    @Test
    void timeoutKillsTheWholeProcessTree() {
        String marker = "987" + Api.thread().substring(7, 12).replaceAll("[^0-9]", "1");

        var result = api.post(
                        "/execute",
                        // Long enough for the shell to start.
                        Api.command(session, "trap '' TERM; sleep " + marker + " & echo begun; wait", "\"timeout\":5"))
                .json();

        assertThat(result.integer("exit_code")).isEqualTo(124);
        assertThat(result.flag("timed_out")).isTrue();
        assertThat(result.string("cause")).isEqualTo("timeout");
        assertThat(result.string("stdout")).isEqualTo("begun\n");
        await().until(() -> !isRunning("sleep " + marker));
    }

    @Test
    void aSilentCommandEndsAfterItsIdleTimeout() {
        var result = api.post(
                        "/execute", Api.command(session, "echo a; sleep 600", "\"timeout\":600,\"idle_timeout\":5"))
                .json();

        assertThat(result.string("cause")).isEqualTo("idle_timeout");
        assertThat(result.string("stdout")).isEqualTo("a\n");
    }

    @Test
    void killedCommandReportsItsSignal() {
        var result = api.execute(session, "kill -9 $$");

        assertThat(result.integer("exit_code")).isEqualTo(137);
        assertThat(result.string("cause")).isEqualTo("signalled");
    }

    @Test
    void longOutputIsTruncatedAndFlagged() {
        var result = api.execute(session, "head -c 30000000 /dev/zero | tr '\\0' x; echo end >&2");

        assertThat(result.string("stdout")).hasSize(10 * 1024 * 1024);
        assertThat(result.string("stderr")).isEqualTo("end\n");
        assertThat(result.flag("truncated")).isTrue();
        assertThat(result.object("usage").integer("stdout_bytes")).isEqualTo(30_000_000);
    }

    @Test
    void bytesThatAreNotUtf8AreReplaced() {
        assertThat(api.execute(session, "printf 'a\\377b\\000c'").string("stdout"))
                .isEqualTo("a\uFFFDb\u0000c");
    }

    @Test
    void commandAcceptsInputEnvironmentAndDirectory() {
        api.execute(session, "mkdir sub");

        var result = api.post(
                        "/execute",
                        Api.command(
                                session,
                                "cat; echo \"$A\"; basename \"$PWD\"",
                                "\"stdin\":\"in €\\n\",\"env\":{\"A\":\"b c\"},\"cwd\":\"sub\""))
                .json();

        assertThat(result.string("stdout")).isEqualTo("in €\nb c\nsub\n");
    }

    @Test
    void largeInputAndOutputDoNotDeadlock() {
        String largeInput = "x".repeat(900_000);

        var result = api.post("/execute", Api.command(session, "cat", "\"stdin\":\"" + largeInput + "\""))
                .json();

        assertThat(result.string("stdout")).isEqualTo(largeInput);
    }

    @Test
    void commandWithoutInputReadsEndOfFile() {
        assertThat(api.execute(session, "cat; echo done").string("stdout")).isEqualTo("done\n");
    }

    @Test
    void commandHasAStandardEnvironment() {
        assertThat(api.execute(session, "echo $USER $LC_CTYPE $TERM; [ \"$HOME\" = \"$PWD\" ] && echo home")
                        .string("stdout"))
                .isEqualTo("sandboxuser C.UTF-8 dumb\nhome\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"timeout\":0 | timeout",
                "\"timeout\":-1 | timeout",
                "\"timeout\":\"30\" | timeout",
                "\"timeout\":1e7 | timeout",
                "\"idle_timeout\":0 | idle_timeout",
                "\"env\":{\"LD_LIBRARY_PATH\":\"/x\"} | env.LD_LIBRARY_PATH",
                "\"cwd\":5 | cwd",
                "\"stdin\":{} | stdin",
                "\"tiemout\":5 | tiemout",
            })
    void invalidFieldIsNamedAndNothingRuns(String more, String field) {
        var answer = api.post("/execute", Api.command(session, "touch ran", more));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.json().string("field")).isEqualTo(field);
        assertThat(api.get("/list_files?session_id=" + session).json().integer("total_files"))
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "   ", "\n"})
    void anEmptyCommandIsRefused(String command) {
        assertThat(api.post("/execute", Api.command(session, command)).status()).isEqualTo(400);
    }

    @Test
    void aNulInACommandIsRefused() {
        assertThat(api.post("/execute", Api.command(session, "echo a\u0000b")).status())
                .isEqualTo(400);
    }

    @Test
    void commandLengthIsLimited() {
        String text = "x".repeat(127 * 1024);

        assertThat(api.execute(session, "echo " + text).string("stdout")).hasSize(text.length() + 1);
        assertThat(api.post("/execute", Api.command(session, "echo " + text + text))
                        .status())
                .isEqualTo(400);
    }

    @ParameterizedTest
    @ValueSource(strings = {"nothing", "sbxaaaaaaaaaaaaaaaaaaaa", "../../etc/passwd", "sbx\u0000"})
    void anUnknownSessionIsNotFound(String id) {
        var answer = api.post("/execute", Api.command(id, "true"));

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().string("error")).isEqualTo("Invalid or expired session");
        assertThat(answer.json().string("session_id")).isEqualTo(id);
    }

    @Test
    void policyRejectionNamesThePattern() {
        try (var strict = TestServer.start("--command-policy", "allowlist")) {
            Api restricted = strict.api();
            String id = restricted.session();

            var answer = restricted.post("/execute", Api.command(id, "rm -rf /workspace/*"));

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.json().string("error")).isEqualTo("Command contains forbidden pattern: \\brm\\b");
            assertThat(answer.json().string("command")).isEqualTo("rm -rf /workspace/*");
            assertThat(answer.json().string("forbidden_pattern")).isEqualTo("\\brm\\b");
            assertThat(restricted.execute(id, "echo fine | wc -l").integer("exit_code"))
                    .isZero();
            var substitution = restricted.post("/execute", Api.command(id, "echo $(id)"));
            assertThat(substitution.status()).isEqualTo(400);
            assertThat(substitution.text()).contains("\"forbidden_pattern\":null");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {SSE, NDJSON})
    void streamSendsEventsInOrder(String mediaType) throws IOException {
        var events = events(Api.command(session, "echo a; echo b >&2; exit 4"), mediaType);

        assertThat(events.getFirst()).isInstanceOf(ExecEvent.Started.class);
        assertThat(text(events, ExecEvent.Stream.STDOUT)).isEqualTo("a\n");
        assertThat(text(events, ExecEvent.Stream.STDERR)).isEqualTo("b\n");
        assertThat(events.getLast())
                .isInstanceOfSatisfying(
                        ExecEvent.Exited.class,
                        exited -> assertThat(exited.exit().exitCode()).isEqualTo(4));
    }

    @Test
    void eventsNeverSplitACharacter() throws IOException {
        var events = events(
                Api.command(session, "printf '\\342'; sleep 0.2; printf '\\202'; sleep 0.2; printf '\\254.'"), NDJSON);

        assertThat(text(events, ExecEvent.Stream.STDOUT)).isEqualTo("€.");
    }

    @Test
    void streamedOutputIsNotTruncated() throws IOException {
        try (var stream = api.stream(Api.command(session, "head -c 30000000 /dev/zero"), NDJSON)) {
            long zeros = 0;
            byte[] buffer = new byte[1 << 16];
            var tail = new StringBuilder();
            for (int count; (count = stream.read(buffer)) >= 0; ) {
                String piece = new String(buffer, 0, count, StandardCharsets.UTF_8);
                zeros += piece.chars().filter(c -> c == 'u').count();
                tail.append(piece).delete(0, Math.max(0, tail.length() - 400));
            }
            assertThat(zeros).isGreaterThanOrEqualTo(30_000_000);
            assertThat(tail).contains("\"stdout_bytes\":30000000");
        }
    }

    @Test
    void closedStreamKillsTheCommand() throws IOException {
        String marker = "7" + System.nanoTime() % 1_000_000;
        var stream = api.stream(
                Api.command(
                        session,
                        "while true; do echo x; sleep 0.05; done & sleep " + marker + "; wait",
                        "\"timeout\":600"),
                SSE);
        assertThat(stream.read()).isNotNegative();
        await().until(() -> isRunning("sleep " + marker));

        stream.close();

        await().until(() -> !isRunning("sleep " + marker));
    }

    @Test
    void closedStreamKillsASilentCommand() throws IOException {
        String marker = "8" + System.nanoTime() % 1_000_000;
        var stream = api.stream(Api.command(session, "sleep " + marker, "\"timeout\":600"), NDJSON);
        assertThat(stream.read()).isNotNegative();
        await().until(() -> isRunning("sleep " + marker));

        stream.close();

        await().until(() -> !isRunning("sleep " + marker));
    }

    @Test
    void slowReaderBlocksTheCommand() throws IOException {
        try (var stream = api.stream(
                Api.command(
                        session,
                        "for i in $(seq 200); do head -c 1000000 /dev/zero; echo $i > next; mv next progress; done"),
                NDJSON)) {
            assertThat(stream.read()).isNotNegative();
            // The client stops reading, so the command must block long before its end.
            await().pollInterval(Duration.ofSeconds(1)).until(() -> progress().equals(progress()));
            assertThat(Integer.parseInt(progress())).isLessThan(200);
        }
    }

    @Test
    void errorBeforeTheFirstEventIsAProblemResponse() throws IOException {
        try (var stream = api.stream(Api.command("nothing", "true"), SSE)) {
            assertThat(new String(stream.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("Invalid or expired");
        }
    }

    @Test
    void endOfSessionIsTheLastEventOfAStream() throws IOException {
        try (var stream = api.stream(Api.command(session, "echo begun; sleep 600", "\"timeout\":600"), NDJSON)) {
            var lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
            var events =
                    lines.lines().filter(line -> !line.contains("keep_alive")).iterator();
            assertThat(events.next()).contains("started");
            assertThat(events.next()).contains("begun");

            api.post("/cleanup", "{\"session_id\":\"" + session + "\"}");

            assertThat(events.next()).containsPattern("\"type\":\"(error|exit)\"");
            assertThat(events).isExhausted();
        }
    }

    private String progress() {
        return api.execute(session, "cat progress 2>/dev/null || echo 0")
                .string("stdout")
                .strip();
    }

    private boolean isRunning(String commandLine) {
        return ProcessHandle.allProcesses()
                .anyMatch(process -> process.info()
                        .commandLine()
                        .map(line -> line.endsWith(commandLine))
                        .orElse(false));
    }

    private List<ExecEvent> events(String body, String mediaType) throws IOException {
        var events = new ArrayList<ExecEvent>();
        try (InputStream stream = api.stream(body, mediaType);
                var lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            lines.lines()
                    .map(line -> line.startsWith("data: ") ? line.substring(6) : line)
                    .filter(line -> line.startsWith("{"))
                    .forEach(line -> ExecJson.readEvent(Json.answer(line)).ifPresent(events::add));
        }
        return events;
    }

    private static String text(List<ExecEvent> events, ExecEvent.Stream wanted) {
        var text = new StringBuilder();
        for (ExecEvent event : events) {
            if (event instanceof ExecEvent.Output(ExecEvent.Stream stream, byte[] bytes) && stream == wanted) {
                text.append(new String(bytes, StandardCharsets.UTF_8));
            }
        }
        return text.toString();
    }
}
