package dev.vivarium.server;

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

/// Routes that name a sandbox in the body or the query. Only the owner and the admin may call them. Stateless.
final class SessionRoutes {
    private SessionRoutes() {}

    static List<Route> of(
            Config config, Operations operations, Callers callers, CommandResponse response, Telemetry telemetry) {
        var create = new CreateSessionHandler(operations.create());
        var upload = new UploadFileHandler(
                callers, config.calls(), telemetry, config.home().resolve("tmp"));
        return List.of(
                CreateSessionHandler.CREATE_SESSION.to(create::handle),
                GetSessionHandler.GET_SESSION.to(new GetSessionHandler(operations.get())::handle),
                ExecuteHandler.EXECUTE.to(new ExecuteHandler(callers, response)::handle),
                UploadFileHandler.UPLOAD.to(upload::handle),
                DownloadFileHandler.DOWNLOAD.to(new DownloadFileHandler(callers, telemetry)::handle),
                ListFilesHandler.LIST.to(new ListFilesHandler(callers)::handle),
                CleanupHandler.CLEANUP.to(new CleanupHandler(operations.end(), callers)::handle));
    }
}
