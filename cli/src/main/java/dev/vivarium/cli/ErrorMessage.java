package dev.vivarium.cli;

import dev.vivarium.cli.tty.Printable;
import dev.vivarium.json.Json;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Error message of a failure on standard error: the reason and a hint, as lines or as one JSON object. Immutable.
record ErrorMessage(String code, String message, Optional<String> hint, boolean retryable) {
    private static final String RED = "\u001b[31m";
    private static final String PLAIN = "\u001b[0m";

    static ErrorMessage of(Failure failure) {
        boolean retryable = failure.owner() == Failure.Owner.CAPACITY || failure instanceof Failure.ServerUnreachable;
        return new ErrorMessage(failure.slug(), sentence(failure), Hint.of(failure), retryable);
    }

    /// Replaces the API's word "session", which the command line does not use.
    private static String sentence(Failure failure) {
        return switch (failure) {
            case Failure.NoSuchSandbox(String name, Optional<End> end) ->
                end.map(how -> "sandbox " + name + " ended at " + how.at() + ": " + how.sentence())
                        .orElse("there is no sandbox '" + name + "', and no thread of that name with a sandbox");
            case Failure.NoSandboxForThread f -> "the thread " + f.thread().value() + " has no sandbox";
            default -> failure.sentence();
        };
    }

    static ErrorMessage usage(String message, String command) {
        return new ErrorMessage("usage", message, Optional.of(command + " --help shows the usage"), false);
    }

    static ErrorMessage plain(String code, String message) {
        return new ErrorMessage(code, message, Optional.empty(), false);
    }

    void print(Terminal terminal, OutputOptions output) {
        if (output.isJson()) {
            printJson(terminal);
            return;
        }
        boolean coloured = output.isColoured(terminal.env(), terminal.ttys().err());
        terminal.err().println((coloured ? RED + "viv:" + PLAIN : "viv:") + " " + Printable.text(message));
        hint.ifPresent(next -> terminal.err().println("  " + Printable.text(next)));
    }

    void printJson(Terminal terminal) {
        String line = new String(
                Json.bytes(out -> {
                    out.writeObjectPropertyStart("error");
                    out.writeStringProperty("code", code);
                    out.writeStringProperty("message", message);
                    hint.ifPresent(next -> out.writeStringProperty("hint", next));
                    out.writeBooleanProperty("retryable", retryable);
                    out.writeEndObject();
                }),
                StandardCharsets.UTF_8);
        terminal.err().println(Printable.json(line));
    }
}
