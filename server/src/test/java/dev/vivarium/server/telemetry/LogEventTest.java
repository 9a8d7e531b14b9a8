package dev.vivarium.server.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
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
                Optional.empty(),
                Optional.empty());
    }
}
