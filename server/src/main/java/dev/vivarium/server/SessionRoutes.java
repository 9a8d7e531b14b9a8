package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.server.api.Callers;
import dev.vivarium.server.api.CleanupHandler;
import dev.vivarium.server.api.CommandResponse;
import dev.vivarium.server.api.CreateSessionHandler;
import dev.vivarium.server.api.DownloadFileHandler;
import dev.vivarium.server.api.ExecuteHandler;
import dev.vivarium.server.api.GetSessionHandler;
import dev.vivarium.server.api.ListFilesHandler;
import dev.vivarium.server.api.UploadFileHandler;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.telemetry.Telemetry;
import java.util.List;

/// Routes that name a sandbox in the body or the query. Only the owner and the admin may call them.
final class SessionRoutes {
    private SessionRoutes() {}

    static List<Route> of(
            Config config, Operations operations, Callers callers, CommandResponse response, Telemetry telemetry) {
        var create = new CreateSessionHandler(operations.create());
        var upload = new UploadFileHandler(
                callers, config.calls(), telemetry, config.home().resolve("tmp"));
        return List.of(
                Route.post("/create_session", KEY, create::handle),
                Route.get("/get_session", KEY, new GetSessionHandler(operations.get())::handle),
                Route.post("/execute", KEY, new ExecuteHandler(callers, response)::handle),
                Route.post("/upload_file", KEY, upload::handle),
                Route.post("/download_file", KEY, new DownloadFileHandler(callers, telemetry)::handle),
                Route.get("/list_files", KEY, new ListFilesHandler(callers)::handle),
                Route.post("/cleanup", KEY, new CleanupHandler(operations.end(), callers)::handle));
    }
}
