package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;

/// How a failure is told: on `err`, as a sentence or as the problem that the server would send.
final class Complaint {
    private Complaint() {}

    static void print(Terminal terminal, Failure failure, OutputOptions output) {
        if (output.isJson()) {
            terminal.err().writeBytes(Json.bytes(out -> ProblemJson.write(out, failure)));
            terminal.err().println();
        } else {
            terminal.err().println("viv: " + failure.sentence());
        }
    }
}
