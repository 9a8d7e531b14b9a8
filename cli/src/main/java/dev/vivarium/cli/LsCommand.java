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

@Command(name = "ls", description = "List the files of a thread's sandbox, newest first.")
final class LsCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(
            names = {"-R", "--recursive"},
            description = "Include subdirectories.")
    private boolean recursive;

    @Option(
            names = {"-q", "--quiet"},
            description = "Only the names.")
    private boolean quiet;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "THREAD[:PATH]",
            description = "Thread and directory; without it, viv lists your threads.")
    private String where = "";

    LsCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        if (where.isEmpty()) {
            ThreadsCommand.list(viv, quiet);
            return 0;
        }
        var place = FileLocation.Inside.of(where);
        var files = viv.connect(place.thread(), IfAbsent.FAIL).files();
        Listing listing = recursive ? files.listRecursively(place.path()) : files.list(place.path());
        if (listing.truncated() && !viv.isJson()) {
            viv.note("the list is not complete: there are too many files");
        }
        if (viv.isJson()) {
            listing.entries().forEach(this::printJson);
        } else if (quiet) {
            listing.entries().forEach(entry -> viv.print(entry.name()));
        } else {
            print(listing);
        }
        return 0;
    }

    private void print(Listing listing) {
        var table = viv.table("MODE", "SIZE", "CHANGED", "NAME");
        for (FileEntry entry : listing.entries()) {
            String name = entry.type() == FileEntry.Type.DIRECTORY ? entry.name() + "/" : entry.name();
            table.row(entry.permissions(), Long.toString(entry.size()), table.time(entry.modified()), name);
        }
        table.print();
    }

    private void printJson(FileEntry entry) {
        viv.json(out -> {
            out.writeStringProperty("name", entry.name());
            out.writeStringProperty("type", entry.type().name().toLowerCase(Locale.ROOT));
            out.writeNumberProperty("size_bytes", entry.size());
            Json.time(out, "modified", entry.modified());
            out.writeStringProperty("permissions", entry.permissions());
        });
    }
}
