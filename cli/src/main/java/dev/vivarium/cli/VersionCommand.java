package dev.vivarium.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "version", description = "Print the version of viv.")
final class VersionCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private OutputOptions output = new OutputOptions();

    VersionCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        if (output.isJson()) {
            terminal.json(out -> out.writeStringProperty("version", Version.current()));
        } else {
            terminal.out().println("viv " + Version.current());
        }
        return 0;
    }
}
