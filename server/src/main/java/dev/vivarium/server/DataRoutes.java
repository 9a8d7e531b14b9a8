package dev.vivarium.server;

import dev.vivarium.server.api.Callers;
import dev.vivarium.server.api.CommandResponse;
import dev.vivarium.server.api.ExecHandler;
import dev.vivarium.server.api.PauseHandler;
import dev.vivarium.server.api.ProcessesHandler;
import dev.vivarium.server.api.ReadFileHandler;
import dev.vivarium.server.api.WriteFileHandler;
import dev.vivarium.server.http.Route;
import dev.vivarium.server.operation.Operations;
import dev.vivarium.server.settings.CallConfig;
import dev.vivarium.server.telemetry.Telemetry;
import java.util.ArrayList;
import java.util.List;

/// Routes for the files and processes of one sandbox, by key or token. Stateless.
final class DataRoutes {
    private DataRoutes() {}

    static List<Route> of(
            Operations operations, Callers callers, CommandResponse response, CallConfig config, Telemetry telemetry) {
        var routes = new ArrayList<>(files(callers, config, telemetry));
        routes.addAll(processes(operations, callers, response));
        return routes;
    }

    private static List<Route> files(Callers callers, CallConfig config, Telemetry telemetry) {
        var read = new ReadFileHandler(callers, telemetry);
        var write = new WriteFileHandler(callers, config, telemetry);
        return List.of(
                ReadFileHandler.READ.to(read::handle),
                WriteFileHandler.PUT.to(write::put),
                WriteFileHandler.MOVE.to(write::move),
                WriteFileHandler.DELETE.to(write::delete));
    }

    private static List<Route> processes(Operations operations, Callers callers, CommandResponse response) {
        var processes = new ProcessesHandler(callers);
        var pause = new PauseHandler(operations.pause());
        return List.of(
                ExecHandler.EXEC.to(new ExecHandler(callers, operations.commands(), response)::handle),
                ProcessesHandler.LIST.to(processes::list),
                ProcessesHandler.GET.to(processes::get),
                ProcessesHandler.KILL.to(processes::kill),
                ProcessesHandler.SIGNAL.to(processes::signal),
                ProcessesHandler.STDIN.to(processes::stdin),
                ProcessesHandler.OUTPUT.to(processes::output),
                PauseHandler.PAUSE.to(pause::pause),
                PauseHandler.RESUME.to(pause::resume));
    }
}
