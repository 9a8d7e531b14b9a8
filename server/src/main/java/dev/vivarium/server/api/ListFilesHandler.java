package dev.vivarium.server.api;

import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.files.ListDepth;
import dev.vivarium.json.FileJson;
import dev.vivarium.model.FileEntry;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;

/// `GET /list_files`: the files of the workspace, newest first. Thread-safe.
public final class ListFilesHandler {
    public static final RouteDescription LIST = RouteDescription.get("/list_files", KEY)
            .named("listFiles", "List the files of the workspace")
            .requiredQuery("session_id", "")
            .query("recursive", QueryFlags.type(true), "`false` lists only the top directory, with its subdirectories.")
            .answers(200, "The files, newest first.", FileJson.FILES)
            .fails(404, 409, 410, 502);

    private static final int MAX_ENTRIES = 100_000;

    private final SandboxResolver resolver;

    public ListFilesHandler(SandboxResolver resolver) {
        this.resolver = resolver;
    }

    public void handle(Exchange exchange) throws IOException {
        boolean recursive = QueryFlags.of(exchange, "recursive", true);
        var sandbox = resolver.require(exchange, exchange.query("session_id"), Scope.FS_RO);
        exchange.usesFilesOf(sandbox);
        var listing =
                sandbox.files().list("", recursive ? ListDepth.ALL : ListDepth.TOP, MAX_ENTRIES, exchange::reserve);
        var shown = listing.entries().filter(entry -> !recursive || entry.type() != FileEntry.Type.DIRECTORY);
        exchange.answer(200, FileJson.FILES, new FileJson.Listed("", sandbox.id(), listing.totals(), shown));
    }
}
