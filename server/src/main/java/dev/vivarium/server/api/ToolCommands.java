package dev.vivarium.server.api;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.EventBody;
import dev.vivarium.model.Exit;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Command events for the shell commands of agents. A worker marks a tool call with `shell_command`, and its result
/// with `exit_code`. If a later call ends the command, `command_id` of its result is the id of the first call. The
/// process id is unknown, so it is 0. Stateless.
final class ToolCommands {
    private static final int LONGEST_OUTPUT = 60 * 1024;

    private ToolCommands() {}

    /// Returns the events that follow an event of a worker.
    static List<NewEvent> of(NewEvent event, String data) {
        try {
            return switch (event.type()) {
                case "agent.tool_use" -> started(event, Json.answer(data));
                case "agent.tool_result" -> completed(event, Json.answer(data));
                default -> List.of();
            };
        } catch (SandboxException e) {
            // The fields have other types. The event of the worker stays as it is.
            return List.of();
        }
    }

    private static List<NewEvent> started(NewEvent event, JsonFields data) {
        return data.optionalString("shell_command")
                .map(line -> new CommandEvent.Started(target(data), ProcessInfo.Kind.EXEC, line))
                .map(body -> List.of(own(event, body)))
                .orElse(List.of());
    }

    private static List<NewEvent> completed(NewEvent event, JsonFields data) {
        Optional<Long> exitCode = data.optionalInteger("exit_code");
        if (exitCode.isEmpty()) {
            return List.of();
        }
        String output = data.optionalString("output").orElse("");
        String shown = output.length() <= LONGEST_OUTPUT ? output : output.substring(0, LONGEST_OUTPUT);
        var text = new CommandEvent.Text(Optional.of(shown), Optional.of((long) shown.length()));
        var result = new CommandEvent.Result(exitCode.get().intValue(), Duration.ZERO, output.length(), 0);
        return List.of(
                own(
                        event,
                        new CommandEvent.Output(
                                target(data), text, CommandEvent.Text.NONE, output.length() - shown.length())),
                own(event, new CommandEvent.Completed(target(data), Exit.Cause.EXITED, Optional.of(result))));
    }

    private static CommandEvent.Target target(JsonFields data) {
        Optional<String> id = data.optionalString("command_id").or(() -> data.optionalString("tool_use_id"));
        return new CommandEvent.Target(0, id, Optional.empty());
    }

    /// The id derives from that of the worker's event, so that a repetition has no effect.
    private static NewEvent own(NewEvent event, EventBody body) {
        return new NewEvent(
                event.id().map(id -> NewEvent.OUR_IDS + id + "." + body.type()).filter(id -> id.length() <= 100),
                body,
                NewEvent.OURS);
    }
}
