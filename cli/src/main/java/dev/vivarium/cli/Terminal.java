package dev.vivarium.cli;

import dev.vivarium.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// What surrounds a command: its streams and its environment. Answers go to `out`, everything else to `err`.
record Terminal(InputStream in, PrintStream out, PrintStream err, Map<String, String> env, Ttys ttys) {
    Terminal {
        env = Map.copyOf(env);
    }

    /// Without a person: pipes only.
    Terminal(InputStream in, PrintStream out, PrintStream err, Map<String, String> env) {
        this(in, out, err, env, Ttys.NONE);
    }

    /// Which streams have a person at their end, and how wide the window is; 0 if nobody knows.
    record Ttys(boolean in, boolean out, boolean err, int columns) {
        static final Ttys NONE = new Ttys(false, false, false, 0);

        /// As the launcher found it: a shell tells a terminal in no time, the JVM needs a native call.
        static Ttys found() {
            String digits = System.getProperty("viv.tty", "");
            return new Ttys(
                    digits.indexOf('0') >= 0,
                    digits.indexOf('1') >= 0,
                    digits.indexOf('2') >= 0,
                    Integer.getInteger("viv.columns", 0));
        }
    }

    /// Prints one object on one line.
    void json(Consumer<JsonGenerator> fields) {
        out.writeBytes(Json.bytes(fields));
        out.println();
        out.flush();
    }

    /// Asks before something that cannot be undone. Where nobody can answer, a script said what it wanted.
    boolean confirms(String question) {
        if (!ttys.in() || !ttys.err()) {
            return true;
        }
        err.print("viv: " + question + " [y/N] ");
        err.flush();
        try {
            int first = in.read();
            for (int next = first; next >= 0 && next != '\n'; next = in.read()) {
                // The rest of the line is no answer either.
            }
            return first == 'y' || first == 'Y';
        } catch (IOException _) {
            return false;
        }
    }

    /// Tells a person something that is no answer; scripts that ask for JSON are not told.
    void note(String text) {
        err.println("viv: " + text);
    }
}
