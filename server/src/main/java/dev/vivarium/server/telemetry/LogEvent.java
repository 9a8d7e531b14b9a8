package dev.vivarium.server.telemetry;

import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// Event of a session for the server log, as ordered names and values. Immutable.
///
/// It truncates ids and commands, because more people read the log than have access to the sandbox.
record LogEvent(Map<String, String> fields) {
    private static final String ABSENT = "-";
    private static final int USER = 8;
    private static final int ID = 12;
    private static final int COMMAND = 50;

    static LogEvent of(String name, SandboxInfo session) {
        var fields = new LinkedHashMap<String, String>();
        fields.put("event", name);
        fields.put("user", cut(session.user().value(), USER));
        fields.put("thread", cut(session.thread().value(), ID));
        fields.put("session", cut(session.id().value(), ID));
        fields.put("command", ABSENT);
        fields.put("exit_code", ABSENT);
        fields.put("duration_ms", ABSENT);
        return new LogEvent(fields);
    }

    LogEvent command(String script) {
        return with("command", cut(script, COMMAND));
    }

    LogEvent exitCode(int code) {
        return with("exit_code", String.valueOf(code));
    }

    LogEvent took(Duration time) {
        return with("duration_ms", String.valueOf(time.toMillis()));
    }

    LogEvent with(String name, String value) {
        var more = new LinkedHashMap<>(fields);
        more.put(name, value);
        return new LogEvent(more);
    }

    Optional<String> get(String name) {
        return Optional.ofNullable(fields.get(name)).filter(value -> !value.equals(ABSENT));
    }

    /// Formats the event on one line, even if values contain line breaks.
    String line() {
        var line = new StringBuilder("[SANDBOX]");
        fields.forEach((name, value) -> {
            line.append(' ').append(name).append('=');
            LogText.value(line, value);
        });
        return line.toString();
    }

    private static String cut(String text, int length) {
        return text.codePointCount(0, text.length()) <= length
                ? text
                : text.substring(0, text.offsetByCodePoints(0, length));
    }
}
