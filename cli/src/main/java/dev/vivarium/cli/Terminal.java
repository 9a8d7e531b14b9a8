package dev.vivarium.cli;

import dev.vivarium.json.Json;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/// What surrounds a command: its streams and its environment. Answers go to `out`, everything else to `err`.
record Terminal(InputStream in, PrintStream out, PrintStream err, Map<String, String> env) {
    Terminal {
        env = Map.copyOf(env);
    }

    /// Prints one object on one line.
    void json(Consumer<JsonGenerator> fields) {
        out.writeBytes(Json.bytes(fields));
        out.println();
        out.flush();
    }
}
