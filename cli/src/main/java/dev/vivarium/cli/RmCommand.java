package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Removes files of sandboxes.
@Command(name = "rm", description = "Remove files of a thread's sandbox.")
final class RmCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-r", "--recursive"},
            description = "Also remove directories.")
    private boolean recursive;

    @Parameters(index = "0..*", arity = "1..*", paramLabel = "THREAD:PATH", description = "Files to remove.")
    private List<String> files = List.of();

    RmCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        for (String file : files) {
            remove(Place.Inside.of(file).requirePath());
        }
        return 0;
    }

    private void remove(Place.Inside file) {
        var files = server.connect(terminal, file.thread(), IfAbsent.FAIL).files();
        if (recursive) {
            files.deleteRecursively(file.path());
        } else {
            files.delete(file.path());
        }
        if (output.isJson()) {
            terminal.json(out -> {
                out.writeStringProperty("name", file.path());
                out.writeStringProperty("status", "removed");
            });
        }
    }
}
