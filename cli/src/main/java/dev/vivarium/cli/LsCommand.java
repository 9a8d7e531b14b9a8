package dev.vivarium.cli;

import dev.vivarium.cli.TokenCache.IfAbsent;
import dev.vivarium.json.Json;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Lists the files of a thread's sandbox.
@Command(name = "ls", description = "List the files of a thread's sandbox, newest first.")
final class LsCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Option(
            names = {"-R", "--recursive"},
            description = "Include subdirectories.")
    private boolean recursive;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the names.")
    private boolean quiet;

    @Parameters(index = "0", paramLabel = "THREAD[:PATH]", description = "Thread and directory.")
    private String where = "";

    LsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        var place = Place.Inside.of(where);
        var files = server.connect(terminal, place.thread(), IfAbsent.FAIL).files();
        Listing listing = recursive ? files.listRecursively(place.path()) : files.list(place.path());
        if (listing.truncated() && !output.isJson()) {
            terminal.note("the list is not complete: there are too many files");
        }
        if (output.isJson()) {
            listing.entries().forEach(this::printJson);
        } else if (quiet) {
            listing.entries().forEach(entry -> terminal.out().println(Table.shown(entry.name())));
        } else {
            print(listing);
        }
        return 0;
    }

    private void print(Listing listing) {
        var table = new Table(terminal, output, "MODE", "SIZE", "CHANGED", "NAME");
        for (FileEntry entry : listing.entries()) {
            String name = entry.type() == FileEntry.Type.DIRECTORY ? entry.name() + "/" : entry.name();
            table.row(entry.permissions(), Long.toString(entry.size()), table.time(entry.modified()), name);
        }
        table.print();
    }

    private void printJson(FileEntry entry) {
        terminal.json(out -> {
            out.writeStringProperty("name", entry.name());
            out.writeStringProperty("type", entry.type().name().toLowerCase(Locale.ROOT));
            out.writeNumberProperty("size_bytes", entry.size());
            Json.time(out, "modified", entry.modified());
            out.writeStringProperty("permissions", entry.permissions());
        });
    }
}
