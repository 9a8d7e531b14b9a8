package dev.vivarium.cli;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.Threads.CurrentSandbox;
import dev.vivarium.sdk.Threads.ThreadInfo;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "threads", description = "List your threads and those that others share with you.")
final class ThreadsCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the names.")
    private boolean quiet;

    ThreadsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        list(viv, quiet);
        return 0;
    }

    static void list(Invocation viv, boolean quiet) {
        List<ThreadInfo> threads = viv.client().threads().list();
        if (viv.isJson()) {
            threads.forEach(thread -> printJson(viv, thread));
        } else if (quiet) {
            threads.forEach(thread -> viv.print(thread.id().value()));
        } else {
            var table = viv.table("THREAD", "OWNER", "ROLE", "STATE", "USED");
            threads.forEach(thread -> row(table, thread));
            table.print();
        }
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

    private static void printJson(Invocation viv, ThreadInfo thread) {
        viv.json(out -> {
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
