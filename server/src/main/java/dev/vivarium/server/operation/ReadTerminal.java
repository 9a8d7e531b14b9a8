package dev.vivarium.server.operation;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventBody;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;

/// Operation that reads the last output of commands and shells from the log of a sandbox. The sandbox may have ended.
/// Thread-safe.
public final class ReadTerminal {
    private static final long MAX_LINES = 10_000;
    private static final int MAX_EVENTS = 1000;
    private static final int MAX_CHARACTERS = 1 << 20;

    /// Escape sequences and control characters.
    private static final Pattern CONTROLS = Pattern.compile(
            "\u001b\\[[0-?]*[ -/]*[@-~]|\u001b\\][^\u0007\u001b]*(\u0007|\u001b\\\\)"
                    + "|\u001b[@-Z\\\\-_=>()#][0-9A-Za-z]?|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]");

    private final EventLog log;

    public ReadTerminal(EventLog log) {
        this.log = log;
    }

    /// @param lines the largest number of lines to return
    public record Request(SandboxId sandbox, long lines) {}

    /// Output as lines of plain text. Immutable.
    ///
    /// @param last time of the newest event in the text; empty if the text is empty
    public record TerminalText(List<String> lines, Optional<Instant> last) {}

    /// @param reserve the method calls it with a number of bytes before it allocates them; it throws to refuse them
    public TerminalText read(Request request, LongConsumer reserve) {
        require(request.lines >= 1 && request.lines <= MAX_LINES, "lines", "must be between 1 and " + MAX_LINES);
        var screen = new Screen();
        List<Event> events = log.newest(request.sandbox, "command.", MAX_EVENTS);
        // The output is in memory three times: as events, as the text of the screen, and as lines.
        reserve.accept(EventSize.of(events) * 3);
        events.forEach(event -> screen.add(log.codec().decode(event)));
        List<String> lines = screen.lines();
        return new TerminalText(
                lines.subList((int) Math.max(0, lines.size() - request.lines), lines.size()),
                events.isEmpty()
                        ? Optional.empty()
                        : Optional.of(events.getLast().at()));
    }

    /// Combined output of several commands. The output of another command starts on a new line.
    private static final class Screen {
        private final StringBuilder text = new StringBuilder();
        private int last;

        void add(EventBody event) {
            switch (event) {
                case CommandEvent.Started(var target, var kind, var line)
                when kind != ProcessInfo.Kind.SHELL -> append(target.pid(), "$ " + line + "\n");
                case CommandEvent.Output(var target, var stdout, var stderr, var omitted) -> {
                    stdout.text().ifPresent(output -> append(target.pid(), output));
                    stderr.text().ifPresent(output -> append(target.pid(), output));
                    if (omitted > 0) {
                        append(target.pid(), "\n… " + omitted + " bytes …\n");
                    }
                }
                default -> {}
            }
        }

        private void append(int pid, String output) {
            if (pid != last && !text.isEmpty() && text.charAt(text.length() - 1) != '\n') {
                text.append('\n');
            }
            last = pid;
            text.append(output);
            if (text.length() > 2 * MAX_CHARACTERS) {
                text.delete(0, text.length() - MAX_CHARACTERS);
            }
        }

        List<String> lines() {
            return CONTROLS.matcher(text)
                    .replaceAll("")
                    .lines()
                    .map(line -> line.substring(line.lastIndexOf('\r') + 1))
                    .toList();
        }
    }
}
