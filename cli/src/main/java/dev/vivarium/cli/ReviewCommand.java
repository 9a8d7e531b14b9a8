package dev.vivarium.cli;

import dev.vivarium.cli.run.Runs;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.http.Transport;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// What an agent has asked people, and their answers.
@Command(
        name = "review",
        description = "List what an agent asks, or answer it.",
        footer = {
            "",
            "  viv review ID                      what it has asked",
            "  viv review ID approve              answers the one that waits: approve, reject or one of its options",
            "  viv review ID reject --comment no --of REVIEW"
        })
final class ReviewCommand implements Callable<Integer> {
    private static final int CONFLICT = 409;

    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(names = "--of", paramLabel = "REVIEW", description = "Which one, if several wait.")
    private @Nullable String review;

    @Option(names = "--comment", paramLabel = "TEXT", description = "Words for the agent.")
    private @Nullable String comment;

    @Parameters(index = "0", paramLabel = "ID", description = "The sandbox, or the thread that has it.")
    private String name = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "DECISION", description = "approve, reject or an option.")
    private @Nullable String decision;

    ReviewCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Transport http = server.http(terminal);
        String path = Runs.path(Runs.sandbox(http, name)) + "/reviews";
        List<JsonFields> all = http.get(path, fields -> fields).objects("reviews");
        if (decision == null) {
            list(all);
        } else {
            answer(http, path + "/" + Transport.segment(waiting(all)), decision);
        }
        return 0;
    }

    private void list(List<JsonFields> all) {
        if (output.isJson()) {
            all.forEach(one -> terminal.out().println(one.text()));
            return;
        }
        var table = new Table(terminal, output, "REVIEW", "STATUS", "DECISION", "ASKED", "REASON", "QUESTION");
        for (JsonFields one : all) {
            table.row(
                    one.string("review_id"),
                    one.string("status"),
                    one.optionalString("decision").orElse("-"),
                    table.time(one.time("created_at")),
                    one.string("reason"),
                    one.string("description"));
        }
        table.print();
    }

    private String waiting(List<JsonFields> all) {
        if (review != null) {
            return review;
        }
        List<String> pending = all.stream()
                .filter(one -> one.string("status").equals("pending"))
                .map(one -> one.string("review_id"))
                .toList();
        if (pending.isEmpty()) {
            throw new SandboxException(new Failure.Unrecognized("nothing-asked", CONFLICT, nothingWaits(all)));
        }
        if (pending.size() > 1) {
            throw new SandboxException(new Failure.InvalidRequest("--of", "must be one of " + pending));
        }
        return pending.getFirst();
    }

    private String nothingWaits(List<JsonFields> all) {
        String last = all.stream()
                .max(Comparator.comparing(one -> one.time("created_at")))
                .map(one -> "the last, " + one.string("review_id") + ", is " + one.string("status")
                        + one.optionalString("decision")
                                .map(chosen -> " with " + chosen)
                                .orElse(""))
                .orElse("it has asked nothing yet");
        return "no question of " + name + " waits: " + last;
    }

    private void answer(Transport http, String path, String chosen) {
        JsonFields answered = http.post(
                path,
                out -> {
                    out.writeStringProperty("decision", chosen);
                    if (comment != null) {
                        out.writeStringProperty("comment", comment);
                    }
                },
                fields -> fields);
        terminal.out().println(output.isJson() ? answered.text() : answered.string("status"));
    }
}
