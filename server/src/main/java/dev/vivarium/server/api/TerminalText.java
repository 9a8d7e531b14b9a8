package dev.vivarium.server.api;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Event;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;
import tools.jackson.core.JsonGenerator;

/// What commands and shells of a sandbox wrote last, as lines of plain text, out of its log. Immutable.
public final class TerminalText {
    private static final long MOST_LINES = 10_000;
    private static final int EVENTS = 1000;
    private static final int MOST_CHARACTERS = 1 << 20;

    /// What moves the cursor or paints, and titles of windows; neither is text.
    private static final Pattern CONTROLS = Pattern.compile(
            "\u001b\\[[0-?]*[ -/]*[@-~]|\u001b\\][^\u0007\u001b]*(\u0007|\u001b\\\\)"
                    + "|\u001b[@-Z\\\\-_=>()#][0-9A-Za-z]?|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]");

    private final List<String> lines;
    private final Optional<Instant> last;

    private TerminalText(List<String> lines, Optional<Instant> last) {
        this.lines = lines;
        this.last = last;
    }

    /// @param reserve is called with a number of bytes before they are held; it throws to refuse them
    public static TerminalText of(EventLog log, SandboxId sandbox, long count, LongConsumer reserve) {
        if (count < 1 || count > MOST_LINES) {
            throw new SandboxException(new Failure.InvalidRequest("lines", "must be between 1 and " + MOST_LINES));
        }
        var screen = new Screen();
        List<Event> events = log.newest(sandbox, "command.", EVENTS);
        // As events, as a screen, and as lines.
        reserve.accept(EventsHandler.bytes(events) * 3);
        events.forEach(screen::show);
        List<String> lines = screen.lines();
        return new TerminalText(
                lines.subList((int) Math.max(0, lines.size() - count), lines.size()),
                events.isEmpty()
                        ? Optional.empty()
                        : Optional.of(events.getLast().at()));
    }

    public void write(JsonGenerator out) {
        out.writeArrayPropertyStart("lines");
        lines.forEach(out::writeString);
        out.writeEndArray();
        out.writeStringProperty("output", String.join("\n", lines));
        last.ifPresent(at -> Json.time(out, "timestamp", at));
    }

    /// Puts together what several commands wrote, each beginning on a line of its own.
    private static final class Screen {
        private final StringBuilder text = new StringBuilder();
        private long last;

        void show(Event event) {
            JsonFields data = Json.answer(event.data());
            long pid = data.optionalInteger("pid").orElse(0L);
            switch (event.type()) {
                case "command.started" -> {
                    if (!data.optionalString("kind").orElse("").equals("shell")) {
                        data.optionalString("command").ifPresent(command -> say(pid, "$ " + command + "\n"));
                    }
                }
                case "command.output" -> {
                    data.optionalString("stdout").ifPresent(words -> say(pid, words));
                    data.optionalString("stderr").ifPresent(words -> say(pid, words));
                    data.optionalInteger("folded_bytes").ifPresent(bytes -> say(pid, "\n… " + bytes + " bytes …\n"));
                }
                default -> {}
            }
        }

        private void say(long pid, String words) {
            if (pid != last && !text.isEmpty() && text.charAt(text.length() - 1) != '\n') {
                text.append('\n');
            }
            last = pid;
            text.append(words);
            if (text.length() > 2 * MOST_CHARACTERS) {
                text.delete(0, text.length() - MOST_CHARACTERS);
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
