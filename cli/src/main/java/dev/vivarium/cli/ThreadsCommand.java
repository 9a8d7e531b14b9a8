package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.sdk.http.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// Lists the threads that one may use.
@Command(name = "threads", description = "List your threads and those you were invited to.")
final class ThreadsCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the names.")
    private boolean quiet;

    ThreadsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        List<JsonFields> threads = all(server.http(terminal));
        if (output.isJson()) {
            threads.forEach(this::printJson);
        } else if (quiet) {
            threads.forEach(thread -> terminal.out().println(Table.shown(thread.string("thread_id"))));
        } else {
            var table = new Table(terminal, output, "THREAD", "OWNER", "ROLE", "STATE", "USED");
            threads.forEach(thread -> row(table, thread));
            table.print();
        }
        return 0;
    }

    private static List<JsonFields> all(Transport http) {
        var threads = new ArrayList<JsonFields>();
        Optional<String> after = Optional.of("");
        while (after.isPresent()) {
            String page = after.get().isEmpty() ? "" : "?after=" + Transport.segment(after.get());
            JsonFields answer = http.get("/threads" + page, fields -> fields);
            threads.addAll(answer.objects("threads"));
            after = answer.optionalString("next_after");
        }
        return threads;
    }

    private static void row(Table table, JsonFields thread) {
        var sandbox = thread.optionalObject("sandbox");
        table.row(
                thread.string("thread_id"),
                thread.string("user_id"),
                thread.string("role"),
                sandbox.map(box -> box.string("state")).orElse("-"),
                sandbox.map(box -> table.time(box.time("last_activity"))).orElse("-"));
    }

    private void printJson(JsonFields thread) {
        terminal.json(out -> {
            out.writeStringProperty("thread_id", thread.string("thread_id"));
            out.writeStringProperty("user_id", thread.string("user_id"));
            out.writeStringProperty("role", thread.string("role"));
            Json.time(out, "created_at", thread.time("created_at"));
            thread.optionalObject("sandbox").ifPresent(box -> {
                out.writeObjectPropertyStart("sandbox");
                out.writeStringProperty("sandbox_id", box.string("sandbox_id"));
                out.writeStringProperty("state", box.string("state"));
                Json.time(out, "last_activity", box.time("last_activity"));
                out.writeEndObject();
            });
        });
    }
}
