package dev.vivarium.server.telemetry;

import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// Event of a session for the server log, as ordered names and values. Immutable.
///
/// A value is a text or a number. It truncates commands, because more people read the log than have access to the
/// sandbox. The line also truncates ids; the fields have the whole ids.
record LogEvent(Map<String, Object> fields) {
    private static final String ABSENT = "-";
    private static final int COMMAND = 50;
    private static final Map<String, Integer> SHORT = Map.of("user", 8, "thread", 12, "session", 12);

    /// Returns an event without a session.
    static LogEvent of(String name) {
        return new LogEvent(Map.of())
                .with("event", name)
                .with("user", ABSENT)
                .with("thread", ABSENT)
                .with("session", ABSENT)
                .with("command", ABSENT)
                .with("exit_code", ABSENT)
                .with("duration_ms", ABSENT);
    }

    static LogEvent of(String name, SandboxInfo session) {
        return of(name).with("user", session.user().value())
                .with("thread", session.thread().value())
                .with("session", session.id().value());
    }

    LogEvent command(String script) {
        return with("command", cut(script, COMMAND));
    }

    LogEvent exitCode(int code) {
        return with("exit_code", code);
    }

    LogEvent took(Duration time) {
        return with("duration_ms", time.toMillis());
    }

    LogEvent with(String name, String value) {
        return put(name, value);
    }

    LogEvent with(String name, long value) {
        return put(name, value);
    }

    private LogEvent put(String name, Object value) {
        var more = new LinkedHashMap<>(fields);
        more.put(name, value);
        return new LogEvent(more);
    }

    /// Returns the value of a field, unless it is absent.
    Optional<Object> get(String name) {
        return Optional.ofNullable(fields.get(name)).filter(value -> !value.equals(ABSENT));
    }

    /// Formats the event on one line, even if values contain line breaks.
    String line() {
        var line = new StringBuilder("[SANDBOX]");
        fields.forEach((name, value) -> {
            line.append(' ').append(name).append('=');
            String text = value.toString();
            LogText.value(line, cut(text, SHORT.getOrDefault(name, text.length())));
        });
        return line.toString();
    }

    private static String cut(String text, int length) {
        return text.codePointCount(0, text.length()) <= length
                ? text
                : text.substring(0, text.offsetByCodePoints(0, length));
    }
}
