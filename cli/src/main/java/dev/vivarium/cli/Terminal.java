package dev.vivarium.cli;

import dev.vivarium.cli.tty.Printable;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// Streams and environment of a command. Results go to `out`, everything else to `err`.
record Terminal(InputStream in, PrintStream out, PrintStream err, Map<String, String> env, Ttys ttys) {
    Terminal {
        env = Map.copyOf(env);
    }

    /// Streams that are terminals, and the width of the window, or 0 if unknown.
    record Ttys(boolean in, boolean out, boolean err, int columns) {
        static final Ttys NONE = new Ttys(false, false, false, 0);

        /// Reads the values of the launcher. A shell detects a terminal faster than the JVM, which needs a
        /// native call.
        static Ttys found() {
            String digits = System.getProperty("viv.tty", "");
            return new Ttys(
                    digits.indexOf('0') >= 0,
                    digits.indexOf('1') >= 0,
                    digits.indexOf('2') >= 0,
                    Integer.getInteger("viv.columns", 0));
        }
    }

    /// Prints one JSON object on one line.
    void json(Consumer<JsonGenerator> fields) {
        printJson(new String(Json.bytes(fields), StandardCharsets.UTF_8));
    }

    /// Prints a JSON object that the server sent.
    void printJson(String object) {
        print(Printable.json(object));
    }

    /// Prints a line of the result.
    void print(String line) {
        out.println(Printable.text(line));
        out.flush();
    }

    /// Asks for confirmation of an irreversible operation. Fails without a terminal.
    boolean confirms(String question) {
        if (!ttys.in() || !ttys.err()) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "--yes", "is needed, because there is no terminal for the question: " + question));
        }
        err.print("viv: " + Printable.text(question) + " [y/N] ");
        err.flush();
        try {
            int first = in.read();
            for (int next = first; next >= 0 && next != '\n'; next = in.read()) {
                // Skips the rest of the line.
            }
            return first == 'y' || first == 'Y';
        } catch (IOException _) {
            return false;
        }
    }

    /// Prints a note for users, unless the output is JSON.
    void note(String text) {
        err.println("viv: " + Printable.text(text));
    }
}
