package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.Threads.CurrentSandbox;
import dev.vivarium.sdk.Threads.ThreadInfo;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// Lists the threads that the user may use.
@Command(name = "threads", description = "List your threads and those that others share with you.")
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
        List<ThreadInfo> threads = server.client(terminal).threads().list();
        if (output.isJson()) {
            threads.forEach(this::printJson);
        } else if (quiet) {
            threads.forEach(
                    thread -> terminal.out().println(Table.shown(thread.id().value())));
        } else {
            var table = new Table(terminal, output, "THREAD", "OWNER", "ROLE", "STATE", "USED");
            threads.forEach(thread -> row(table, thread));
            table.print();
        }
        return 0;
    }

    private static void row(Table table, ThreadInfo thread) {
        var sandbox = thread.sandbox();
        table.row(
                thread.id().value(),
                thread.owner().value(),
                thread.role(),
                sandbox.map(CurrentSandbox::state).orElse("-"),
                sandbox.map(box -> table.time(box.lastActivity())).orElse("-"));
    }

    private void printJson(ThreadInfo thread) {
        terminal.json(out -> {
            out.writeStringProperty("thread_id", thread.id().value());
            out.writeStringProperty("user_id", thread.owner().value());
            out.writeStringProperty("role", thread.role());
            Json.time(out, "created_at", thread.createdAt());
            thread.sandbox().ifPresent(sandbox -> {
                out.writeObjectPropertyStart("sandbox");
                out.writeStringProperty("sandbox_id", sandbox.id().value());
                out.writeStringProperty("state", sandbox.state());
                Json.time(out, "last_activity", sandbox.lastActivity());
                out.writeEndObject();
            });
        });
    }
}
