package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.EventData;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The stored text of the events that the server appends. Clients and old logs depend on every byte.
class EventTextTest {
    private static final String RUN = "runaaaaaaaaaaaaaaaaaaaa";
    private static final String TASK = "tskaaaaaaaaaaaaaaaaaaaa";
    private static final String REVIEW = "revaaaaaaaaaaaaaaaaaaaa";

    @Test
    void everyEventHasTheTextOfTheGoldenFile() throws IOException {
        String text;
        try (var file = EventTextTest.class.getResourceAsStream("events.golden")) {
            text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }

        assertThat(text.lines().map(line -> line.substring(line.indexOf(' ') + 1)))
                .containsExactlyElementsOf(all().stream().map(EventData::text).toList());
    }

    private static List<EventData> all() {
        return List.of(
                EventData.of("thread_id", "t1").with("user_id", "ann").with("origin", "warm").with("took_ms", 12),
                EventData.of("reason", "user").with("detail", "by ann"),
                EventData.of("reason", "traffic").with("detail", "woken by traffic"),
                EventData.of("how", "adopted"),
                EventData.of("reason", "idle").with("detail", ""),
                EventData.of("reason", "server"),
                EventData.nothing()
                        .with("cpu_percent", 12.5)
                        .with("cpu_limit_percent", 100.0)
                        .with("memory_bytes", 1L << 20)
                        .with("memory_limit_bytes", 256L << 20)
                        .with("processes", 3)
                        .with("processes_limit", 64)
                        .with("disk_bytes", 0)
                        .with("disk_limit_bytes", 512L << 20)
                        .with("oom_kills", 1),
                EventData.of("pid", 7).with("kind", "exec").with("command", "echo \"a\\b\"/\n\t\r\u0001\b\f\u001b €😀"),
                kept().with("kind", "detached").with("command", "make"),
                shell().with("kind", "shell").with("command", "bash"),
                EventData.of("pid", 7).with("stdout", "one"),
                kept().with("stdout", "de")
                        .with("stdout_end", 15)
                        .with("stderr", "x")
                        .with("stderr_end", 3)
                        .with("folded_bytes", 9),
                shell().with("stdout_end", 15).with("folded_bytes", 9),
                kept().with("exit_code", 137)
                        .with("cause", "oom")
                        .with("duration_ms", 1500)
                        .with("stdout_bytes", 15)
                        .with("stderr_bytes", 3),
                EventData.of("pid", 7).with("cause", "cancelled"),
                file().with("sha256", "ab12").with("diff", "--- /dev/null\n+++ b/src/a\n@@ -0,0 +1 @@\n+1\n"),
                file().with("sha256", "ab12").with("diff", "--- a/src/a\n").with("diff_truncated", true),
                file().with("diff_omitted", true),
                EventData.of("path", "d").with("directory", true).with("files", 2),
                EventData.of("path", "l").with("type", "link"),
                EventData.of("path", "gone"),
                folded(812, 3, List.of("node_modules", ".")),
                folded(0, 0, List.of()).with("incomplete", true),
                run().with("runtime", "claude"),
                run().with("status", "failed")
                        .with("reason", Optional.of("budget: spent $1"))
                        .with("reason_code", Optional.of("budget"))
                        .with("cost_usd", new BigDecimal("1E-7"))
                        .with("tokens", 12)
                        .with("tool_calls", 3),
                run().with("status", "completed")
                        .with("reason", Optional.empty())
                        .with("cost_usd", new BigDecimal("0.25"))
                        .with("tokens", 12)
                        .with("tool_calls", 3),
                EventData.of("model", "m")
                        .with("input_tokens", 1)
                        .with("output_tokens", 2)
                        .with("cache_read_tokens", 3)
                        .with("cache_write_tokens", 4)
                        .with("cost_usd", new BigDecimal("1E-7"))
                        .with("duration_ms", 250)
                        .with("status", 200)
                        .with("estimated", false),
                EventData.of("review_id", REVIEW)
                        .with("task_id", TASK)
                        .with("reason", "deploy")
                        .with("description", "May I?")
                        .withObject("context", "{\"options\":[{\"id\":\"later\"}]}")
                        .with("blocking", true)
                        .with("deadline", "2026-01-01T10:00:00Z"),
                EventData.of("review_id", REVIEW)
                        .with("decision", "later")
                        .with("comment", Optional.of("tomorrow"))
                        .with("user_id", "ann"),
                EventData.of("review_id", REVIEW).with("decision", "reject").with("user_id", "ann"),
                EventData.of("review_id", REVIEW).with("deadline", "2026-01-01T10:00:00.123Z"),
                message("immediate"),
                message("immediate"),
                message("immediate"),
                message("immediate"),
                message("next_turn"),
                EventData.of("message_id", "msg1").with("message_type", "guidance").with("latency_ms", 40));
    }

    private static EventData kept() {
        return EventData.of("pid", 7).with("process_id", "p1");
    }

    private static EventData shell() {
        return EventData.of("pid", 7).with("session_id", "s1");
    }

    private static EventData file() {
        return EventData.of("path", "src/a").with("size", 2);
    }

    private static EventData folded(int created, int modified, List<String> directories) {
        return EventData.of("created", created)
                .with("modified", modified)
                .with("deleted", 0)
                .with("directories", directories);
    }

    private static EventData run() {
        return EventData.of("run_id", RUN).with("task_id", TASK);
    }

    private static EventData message(String mode) {
        return EventData.of("message_id", "msg1").with("content", "hello").with("inject_mode", mode);
    }
}
