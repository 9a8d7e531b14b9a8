package dev.vivarium.server.api;

import dev.vivarium.core.files.ListDepth;
import dev.vivarium.json.FileJson;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;

/// `GET /list_files`: what is in the workspace, newest first. Thread-safe.
public final class ListFilesHandler {
    private static final int MAX_ENTRIES = 100_000;

    private final Callers callers;

    public ListFilesHandler(Callers callers) {
        this.callers = callers;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery("session_id", "recursive");
        boolean recursive = QueryFlags.of(exchange, "recursive", true);
        var sandbox = callers.require(exchange.principal(), exchange.query("session_id"));
        exchange.usesFilesOf(sandbox);
        var listing =
                sandbox.files().list("", recursive ? ListDepth.ALL : ListDepth.TOP, MAX_ENTRIES, exchange::reserve);
        var directories = recursive ? FileJson.Directories.HIDDEN : FileJson.Directories.SHOWN;
        var shown = listing.entries().filter(directories::show);
        exchange.answer(200, out -> FileJson.write(out, sandbox.id(), listing.totals(), shown));
    }
}
