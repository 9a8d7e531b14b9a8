package dev.vivarium.cli;

import dev.vivarium.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// Streams and environment of a command. Results go to `out`, everything else to `err`.
record Terminal(InputStream in, PrintStream out, PrintStream err, Map<String, String> env, Ttys ttys) {
    Terminal {
        env = Map.copyOf(env);
    }

    /// Terminal in which all streams are pipes.
    Terminal(InputStream in, PrintStream out, PrintStream err, Map<String, String> env) {
        this(in, out, err, env, Ttys.NONE);
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
        out.writeBytes(Json.bytes(fields));
        out.println();
        out.flush();
    }

    /// Asks for confirmation of an irreversible operation. Without a terminal, returns true.
    boolean confirms(String question) {
        if (!ttys.in() || !ttys.err()) {
            return true;
        }
        err.print("viv: " + question + " [y/N] ");
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
        err.println("viv: " + text);
    }
}
