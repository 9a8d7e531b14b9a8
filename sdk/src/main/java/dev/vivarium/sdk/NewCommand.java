package dev.vivarium.sdk;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// Request to start a command. Immutable.
///
/// @param words     a program with its arguments; a single word is a line of shell
/// @param timeout   the server kills the command after this time
/// @param idle      the server kills the command if it writes nothing for this time
/// @param directory relative to the workspace; empty for the workspace
/// @param openInput whether the standard input stays open for [Commands#writeInput]
public record NewCommand(
        List<String> words,
        Duration timeout,
        Optional<Duration> idle,
        String directory,
        Map<String, String> env,
        boolean openInput) {
    private static final double MILLIS = 1000;

    public NewCommand {
        words = List.copyOf(words);
        env = Map.copyOf(env);
    }

    void write(JsonGenerator out) {
        if (words.size() == 1) {
            out.writeStringProperty("command", words.getFirst());
        } else {
            out.writeArrayPropertyStart("command");
            words.forEach(out::writeString);
            out.writeEndArray();
        }
        out.writeNumberProperty("timeout", timeout.toMillis() / MILLIS);
        idle.ifPresent(time -> out.writeNumberProperty("idle_timeout", time.toMillis() / MILLIS));
        if (!directory.isEmpty()) {
            out.writeStringProperty("cwd", directory);
        }
        if (!env.isEmpty()) {
            out.writeObjectPropertyStart("env");
            env.forEach(out::writeStringProperty);
            out.writeEndObject();
        }
        if (openInput) {
            out.writeBooleanProperty("stream_stdin", true);
        }
    }
}
