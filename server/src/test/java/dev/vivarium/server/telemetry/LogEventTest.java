package dev.vivarium.server.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Limits;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class LogEventTest {
    private static final Instant NOW = Instant.parse("2026-01-01T10:00:00Z");

    @Test
    void lineHasTheDocumentedFieldsInOrder() {
        String line = LogEvent.of("command_executed", session("user_abc123", "thread_xyz789"))
                .command("ls")
                .exitCode(0)
                .took(Duration.ofMillis(45))
                .line();

        assertThat(line)
                .isEqualTo("[SANDBOX] event=command_executed user=user_abc thread=thread_xyz78 session=sbxaaaaaaaaa"
                        + " command=ls exit_code=0 duration_ms=45");
    }

    @Test
    void missingFieldsAreDashes() {
        assertThat(LogEvent.of("session_created", session("u", "t")).line())
                .endsWith("command=- exit_code=- duration_ms=-");
    }

    @Test
    void valuesCannotInjectLinesOrFields() {
        String line = LogEvent.of("command_executed", session("u", "a b"))
                .command("echo\n[SANDBOX] event=x\u2028\u001b[31m\u202e\" \\")
                .line();

        assertThat(line)
                .doesNotContain("\n", "\u2028", "\u001b", "\u202e")
                .contains("thread=\"a b\"")
                .contains("command=\"echo\\n[SANDBOX] event=x\\u2028\\u001b[31m\\u202e\\\" \\\\\"");
    }

    @Test
    void longCommandIsTruncated() {
        assertThat(LogEvent.of("command_executed", session("u", "t"))
                        .command("x".repeat(500))
                        .line())
                .contains("command=" + "x".repeat(50) + " ");
    }

    @Test
    void jsonHasWholeIdsAndNumbers() {
        var event = LogEvent.of("command_executed", session("user_abc123", "thread_xyz789"))
                .exitCode(3)
                .took(Duration.ofMillis(45))
                .with("size_bytes", 12L);

        assertThat(format(new Logs.Structured(), event))
                .contains("\"user\":\"user_abc123\"", "\"thread\":\"thread_xyz789\"")
                .contains("\"session\":\"sbxaaaaaaaaaaaaaaaaaaaa\"")
                .contains("\"exit_code\":3", "\"duration_ms\":45", "\"size_bytes\":12")
                .doesNotContain("\"command\"");
    }

    @Test
    void refusedCommandIsALineInBothForms() {
        var event = LogEvent.of("validation_failed", session("u", "t"))
                .command("rm {0} '\n'")
                .with("reason", "Command contains forbidden pattern: \\brm\\b");

        assertThat(format(new Logs.Text(), event))
                .contains(
                        "INFO [SANDBOX] event=validation_failed user=u thread=t session=sbxaaaaaaaaa command=\"rm {0}")
                .endsWith("\n")
                .hasLineCount(1);
        assertThat(format(new Logs.Structured(), event)).contains("\"event\":\"validation_failed\"");
    }

    @Test
    void eventWithoutASessionHasDashes() {
        assertThat(LogEvent.of("resource_limit_exceeded").line())
                .startsWith("[SANDBOX] event=resource_limit_exceeded user=- thread=- session=- command=-");
    }

    private static String format(Formatter form, LogEvent event) {
        var entry = new LogRecord(Level.INFO, event.line());
        entry.setParameters(new Object[] {event});
        return form.format(entry);
    }

    private static SandboxInfo session(String user, String thread) {
        return new SandboxInfo(
                new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa"),
                new ThreadId(thread),
                new UserId(user),
                Status.RUNNING,
                Limits.STANDARD,
                NOW,
                NOW,
                NOW,
                NOW,
                OnIdle.END,
                Optional.empty(),
                Optional.empty());
    }
}
