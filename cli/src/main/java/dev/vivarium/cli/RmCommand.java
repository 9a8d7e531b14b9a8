package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "rm", description = "Remove files of a thread's sandbox.")
final class RmCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-r", "--recursive"},
            description = "Also remove directories.")
    private boolean recursive;

    @Parameters(index = "0..*", arity = "1..*", paramLabel = "THREAD:PATH", description = "Files to remove.")
    private List<String> files = List.of();

    RmCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        for (String file : files) {
            remove(FileLocation.Inside.of(file));
        }
        return 0;
    }

    private void remove(FileLocation.Inside file) {
        if (file.path().isEmpty()) {
            throw new SandboxException(new Failure.InvalidRequest(
                    "'" + file.thread() + "'",
                    "is a thread; name a file as THREAD:PATH. To end the sandbox: viv end " + file.thread()));
        }
        var files = viv.connect(file.requirePath().thread(), IfAbsent.FAIL).files();
        if (recursive) {
            files.deleteRecursively(file.path());
        } else {
            files.delete(file.path());
        }
        if (viv.isJson()) {
            viv.json(out -> {
                out.writeStringProperty("name", file.path());
                out.writeStringProperty("status", "removed");
            });
        }
    }
}
