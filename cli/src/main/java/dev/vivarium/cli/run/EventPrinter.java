package dev.vivarium.cli.run;

import dev.vivarium.cli.tty.Printable;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxEvent;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// Printer of the events of a run for people, one paragraph each. Skips unknown event types. Confined to one thread.
public final class EventPrinter {
    private static final int LABEL = 9;
    private static final int MAX_LINES = 12;
    private static final String BOLD = "\u001b[1m";
    private static final String DIM = "\u001b[2m";
    private static final String GREEN = "\u001b[32m";
    private static final String RED = "\u001b[31m";
    private static final String PLAIN = "\u001b[0m";

    private final PrintStream out;
    private final boolean coloured;
    private String lastMessage = "";

    public EventPrinter(PrintStream out, boolean coloured) {
        this.out = out;
        this.coloured = coloured;
    }

    public void print(SandboxEvent event) {
        JsonFields data = Json.answer(event.data());
        switch (event.type()) {
            case "agent.started" -> say("starts", BOLD, text(data, "runtime"));
            case "agent.thinking" -> say("thinks", DIM, text(data, "text"));
            case "agent.message" -> says(text(data, "text"));
            case "agent.tool_use" -> say("uses", BOLD, tool(data));
            case "agent.tool_result" ->
                say(isError(data) ? "fails" : "gets", isError(data) ? RED : DIM, text(data, "content"));
            case "agent.output" -> say("prints", DIM, text(data, "text"));
            case "agent.error" -> say("trouble", RED, text(data, "problem"));
            case "agent.message_delivered" -> say("hears", GREEN, heard(data));
            case "agent.message_undelivered" -> say("missed", RED, text(data, "content"));
            case "agent.interrupted" -> say("stops", "", "interrupted");
            case "agent.paused", "sandbox.paused" -> say("paused", "", text(data, "detail"));
            case "agent.resumed", "sandbox.resumed" -> say("resumed", "", text(data, "detail"));
            case "sandbox.hibernated" -> say("sleeps", "", text(data, "detail"));
            case "sandbox.woken" -> say("wakes", "", "started again on its files");
            case "agent.review_requested" -> say("asks", BOLD, asked(data));
            case "agent.review_answered" -> say("answer", GREEN, answered(data));
            case "user.message", "user.interrupt", "user.guidance", "guardian.intervention" ->
                say("you", GREEN, text(data, "content"));
            case "file.created", "file.modified", "file.deleted" -> file(event.type(), data);
            case "agent.completed" -> done(text(data, "summary"));
            case "agent.failed" -> say("failed", RED, text(data, "reason"));
            case "sandbox.run_ended" -> say("ended", BOLD, ended(data));
            case "sandbox.terminated", "sandbox.failed" -> say("gone", RED, text(data, "detail"));
            default -> {
                // Not an event of the agent.
            }
        }
    }

    /// Reports whether this event ends the run as completed.
    public static boolean isCompletion(SandboxEvent event) {
        return event.isRunEnd() && text(Json.answer(event.data()), "status").equals("completed");
    }

    private void says(String words) {
        lastMessage = words;
        say("says", "", words);
    }

    /// Omits the summary if it repeats the last message, as most agents do.
    private void done(String summary) {
        say("done", GREEN, summary.strip().equals(lastMessage.strip()) ? "" : summary);
    }

    private void file(String type, JsonFields data) {
        String verb = type.substring(type.indexOf('.') + 1);
        say("file", BOLD, verb + " " + text(data, "path"));
        optional(data, "diff").ifPresent(diff -> {
            List<String> lines = diff.lines()
                    .filter(line -> !line.startsWith("---") && !line.startsWith("+++") && !line.startsWith("@@"))
                    .toList();
            lines.stream().limit(MAX_LINES).forEach(this::diffLine);
        });
    }

    private void diffLine(String line) {
        out.println(" ".repeat(LABEL)
                + tinted(line.startsWith("-") ? RED : line.startsWith("+") ? GREEN : DIM, shown(line)));
    }

    /// The most informative field of the input of a tool call, or the whole input.
    private static String tool(JsonFields data) {
        String name = text(data, "tool_name");
        Optional<JsonFields> input = data.optionalObject("tool_input");
        for (String field : List.of("command", "file_path", "path", "pattern", "url", "message", "description")) {
            Optional<String> found = input.flatMap(given -> optional(given, field));
            if (found.isPresent()) {
                Optional<String> path = field.equals("command") ? optional(input.get(), "path") : Optional.empty();
                return name + "  " + found.get() + path.map(at -> " " + at).orElse("");
            }
        }
        return name + input.map(given -> "  " + given.text()).orElse("");
    }

    private static String heard(JsonFields data) {
        String after = data.optionalInteger("latency_ms")
                .map(latency -> "  (after " + latency + " ms)")
                .orElse("");
        return text(data, "content") + after;
    }

    private static String asked(JsonFields data) {
        return text(data, "description") + "  (" + text(data, "reason") + "; viv review answers)";
    }

    private static String answered(JsonFields data) {
        return optional(data, "decision").orElseGet(() -> text(data, "status"))
                + optional(data, "comment").map(comment -> ": " + comment).orElse("");
    }

    private static String ended(JsonFields data) {
        String why = optional(data, "reason_code")
                .filter(code -> !code.equals(text(data, "status")))
                .map(code -> " (" + code + ")")
                .orElse("");
        return text(data, "status") + why + ", $" + cost(data) + ", " + grouped(data, "tokens") + " tokens, "
                + grouped(data, "tool_calls") + " tool calls";
    }

    /// Older logs have the cost as a string.
    private static String cost(JsonFields data) {
        try {
            double dollars = data.optionalNumber("cost_usd").orElse(0);
            return BigDecimal.valueOf(dollars).setScale(4, RoundingMode.HALF_UP).toPlainString();
        } catch (SandboxException _) {
            return text(data, "cost_usd");
        }
    }

    private static String grouped(JsonFields data, String name) {
        return String.format(Locale.ROOT, "%,d", data.optionalInteger(name).orElse(0L));
    }

    private static boolean isError(JsonFields data) {
        return data.optionalFlag("is_error").orElse(false);
    }

    private static String text(JsonFields data, String name) {
        return optional(data, name).orElse("");
    }

    /// A field that is not a string is shown with the whole object.
    private static Optional<String> optional(JsonFields data, String name) {
        try {
            return data.optionalString(name);
        } catch (SandboxException _) {
            return Optional.of(data.text());
        }
    }

    private void say(String label, String tint, String text) {
        List<String> lines = text.strip().lines().toList();
        String first = lines.isEmpty() ? "" : shown(lines.getFirst());
        out.println((label + " ".repeat(LABEL - label.length()) + tinted(tint, first)).stripTrailing());
        lines.stream()
                .skip(1)
                .limit(MAX_LINES - 1)
                .forEach(line -> out.println(" ".repeat(LABEL) + tinted(tint, shown(line))));
        if (lines.size() > MAX_LINES) {
            out.println(" ".repeat(LABEL) + tinted(DIM, "… " + (lines.size() - MAX_LINES) + " more lines"));
        }
        out.flush();
    }

    private String tinted(String tint, String text) {
        return coloured && !tint.isEmpty() && !text.isEmpty() ? tint + text + PLAIN : text;
    }

    private static String shown(String text) {
        return Printable.text(text.replace('\t', ' '));
    }
}
