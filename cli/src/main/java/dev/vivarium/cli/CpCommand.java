package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.SandboxClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Copies one file into a thread's sandbox or out of it.
@Command(
        name = "cp",
        description = "Copy a file into a thread's sandbox, or out of it.",
        footer = {
            "",
            "THREAD:PATH is in the sandbox, anything else is here; - is standard input or output.",
            "  viv cp data.csv t1:            viv cp t1:result.json .            viv cp t1:log.txt -"
        })
final class CpCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(index = "0", paramLabel = "FROM")
    private Place from = Place.of("-");

    @Parameters(index = "1", paramLabel = "TO")
    private Place to = Place.of("-");

    CpCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (var client = server.client(terminal)) {
            switch (from) {
                case Place.Here source when to instanceof Place.Inside target -> upload(client, source, target);
                case Place.Inside source when to instanceof Place.Here target -> download(client, source, target);
                default ->
                    throw new SandboxException(
                            new Failure.InvalidRequest("cp", "needs exactly one side of the form THREAD:PATH"));
            }
            return 0;
        }
    }

    private void upload(SandboxClient client, Place.Here source, Place.Inside target) {
        var box = client.sandbox(server.account(terminal).user(), target.thread());
        var entry = source.isStandard()
                ? box.upload(target.path(), terminal.in())
                : box.upload(Path.of(source.path()), target.nameFor(source));
        if (output.isJson()) {
            report(entry.name(), entry.size());
        }
    }

    private void download(SandboxClient client, Place.Inside source, Place.Here target) {
        var box = Threads.require(client, source.thread());
        if (target.isStandard()) {
            try (var bytes = box.open(source.path())) {
                bytes.transferTo(terminal.out());
                terminal.out().flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return;
        }
        Path file = box.download(source.path(), Path.of(target.path()));
        if (output.isJson()) {
            report(file.toString(), file.toFile().length());
        }
    }

    private void report(String name, long bytes) {
        terminal.json(out -> {
            out.writeStringProperty("name", name);
            out.writeNumberProperty("size_bytes", bytes);
        });
    }
}
