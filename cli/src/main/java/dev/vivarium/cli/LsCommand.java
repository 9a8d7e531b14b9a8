package dev.vivarium.cli;

import dev.vivarium.json.FileJson;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import dev.vivarium.sdk.Sandbox;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// Lists the files of a thread's sandbox.
@Command(name = "ls", description = "List the files of a thread's sandbox, newest first.")
final class LsCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Parameters(index = "0", paramLabel = "THREAD", description = "The conversation whose sandbox it is.")
    private String thread = "";

    LsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try (var client = server.client(terminal)) {
            Sandbox box = Threads.require(client, thread);
            Listing listing = box.list();
            if (output.isJson()) {
                terminal.json(out -> FileJson.write(out, box.id(), listing, FileJson.Directories.SHOWN));
                return 0;
            }
            var table = new Table(terminal, output, "MODE", "SIZE", "CHANGED", "NAME");
            for (FileEntry entry : listing.entries()) {
                table.row(entry.permissions(), Long.toString(entry.size()), table.time(entry.modified()), entry.name());
            }
            table.print();
            return 0;
        }
    }
}
