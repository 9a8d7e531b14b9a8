package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "cat", description = "Print files of a thread's sandbox.")
final class CatCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "THREAD:PATH",
            description = "Files to print, in this order.")
    private List<String> files = List.of();

    CatCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        for (String file : files) {
            print(FileLocation.Inside.of(file).requirePath());
        }
        viv.out().flush();
        return 0;
    }

    private void print(FileLocation.Inside file) {
        var files = viv.connect(file.thread(), IfAbsent.FAIL).files();
        try (var bytes = files.open(file.path()).bytes()) {
            if (viv.isJson()) {
                var all = new ByteArrayOutputStream();
                bytes.transferTo(all);
                viv.json(out -> {
                    out.writeStringProperty("name", file.path());
                    out.writeNumberProperty("size_bytes", all.size());
                    out.writeStringProperty("text", all.toString(StandardCharsets.UTF_8));
                });
            } else {
                viv.copy(bytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
