package dev.vivarium.json;

import dev.vivarium.model.StepCodec;
import dev.vivarium.model.TaskConstraints;
import dev.vivarium.model.ToolCall;
import dev.vivarium.model.ToolResult;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/// JSON form of the tool calls of agents and of the constraints of tasks. Stateless.
public final class StepJson implements StepCodec {
    /// Names that the tools of the runtimes use for a file.
    private static final List<String> PATHS = List.of("file_path", "path", "notebook_path");

    private static final long MINUTE_MILLIS = 60_000;

    @Override
    public Optional<ToolCall> call(String data) {
        return read(data, fields -> {
            Optional<JsonFields> input = find(fields, "tool_input", JsonFields::optionalObject);
            return text(fields, "tool_name")
                    .map(tool -> new ToolCall(
                            text(fields, "tool_use_id").orElse(""),
                            tool,
                            input.map(JsonFields::text).orElse(""),
                            text(fields, "shell_command"),
                            PATHS.stream()
                                    .flatMap(name -> input.flatMap(some -> text(some, name)).stream())
                                    .findFirst(),
                            input.flatMap(some -> text(some, "url"))));
        });
    }

    @Override
    public Optional<ToolResult> result(String data) {
        return read(data, fields -> {
            boolean isError = find(fields, "is_error", JsonFields::optionalFlag).orElse(false);
            boolean isBadExit = find(fields, "exit_code", JsonFields::optionalInteger)
                    .filter(code -> code != 0)
                    .isPresent();
            String content = Stream.of(text(fields, "output"), text(fields, "content"))
                    .flatMap(Optional::stream)
                    .findFirst()
                    .orElseGet(() -> blocks(fields));
            return text(fields, "tool_use_id").map(id -> new ToolResult(id, isError || isBadExit, content));
        });
    }

    /// Returns the text of content that is a list of blocks.
    private static String blocks(JsonFields fields) {
        return String.join(
                "\n",
                find(fields, "content", JsonFields::optionalObjects).orElse(List.of()).stream()
                        .flatMap(block -> text(block, "text").stream())
                        .toList());
    }

    @Override
    public Optional<String> problem(String data) {
        return read(data, fields -> text(fields, "problem").or(() -> text(fields, "message")));
    }

    @Override
    public TaskConstraints constraints(String constraints) {
        return read(
                        constraints,
                        fields -> Optional.of(new TaskConstraints(
                                find(fields, "allowed_tools", JsonFields::optionalStrings),
                                find(fields, "allowed_paths", JsonFields::optionalStrings),
                                find(fields, "allowed_hosts", JsonFields::optionalStrings),
                                find(fields, "time_limit_minutes", StepJson::minutes))))
                .orElse(TaskConstraints.NONE);
    }

    private static Optional<Duration> minutes(JsonFields fields, String name) {
        var minutes = fields.optionalNumber(name);
        return minutes.isEmpty()
                ? Optional.empty()
                : Optional.of(Duration.ofMillis(Math.round(minutes.getAsDouble() * MINUTE_MILLIS)));
    }

    @Override
    public Optional<String> repository(String context) {
        return read(
                context,
                fields -> find(fields, "repository", JsonFields::optionalObject)
                        .flatMap(object -> text(object, "url"))
                        .or(() -> text(fields, "repository")));
    }

    private static Optional<String> text(JsonFields fields, String name) {
        return find(fields, name, JsonFields::optionalString);
    }

    /// Reader of one field.
    private interface Field<T> {
        Optional<T> read(JsonFields fields, String name);
    }

    /// Returns nothing for a field of another type.
    private static <T> Optional<T> find(JsonFields fields, String name, Field<T> field) {
        try {
            return field.read(fields, name);
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    /// Returns nothing for a text that is no JSON object.
    private static <T> Optional<T> read(String data, Function<JsonFields, Optional<T>> reader) {
        try {
            return reader.apply(Json.answer(data));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }
}
