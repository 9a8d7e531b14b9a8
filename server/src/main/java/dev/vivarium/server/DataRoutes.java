package dev.vivarium.server;

import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
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

/// Routes for the files and processes of one sandbox, by key or token.
final class DataRoutes {
    private static final String SANDBOX = "/sandboxes/{sandbox_id}";
    private static final String FILE = SANDBOX + "/files/{path…}";
    private static final String PROCESS = SANDBOX + "/processes/{process_id}";

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
                Route.get(FILE, scoped(Scope.FS_RO), read::handle),
                Route.put(FILE, scoped(Scope.FS_RW), write::put),
                Route.post(FILE, scoped(Scope.FS_RW), write::move),
                Route.delete(FILE, scoped(Scope.FS_RW), write::delete));
    }

    private static List<Route> processes(Operations operations, Callers callers, CommandResponse response) {
        var processes = new ProcessesHandler(callers);
        var pause = new PauseHandler(operations.pause());
        var access = scoped(Scope.PROCESS);
        return List.of(
                Route.post(
                        SANDBOX + "/exec", access, new ExecHandler(callers, operations.commands(), response)::handle),
                Route.get(SANDBOX + "/processes", access, processes::list),
                Route.get(PROCESS, access, processes::get),
                Route.delete(PROCESS, access, processes::kill),
                Route.post(PROCESS + "/signal", access, processes::signal),
                Route.post(PROCESS + "/stdin", access, processes::stdin),
                Route.get(PROCESS + "/output", access, processes::output),
                Route.post(SANDBOX + "/pause", access, pause::pause),
                Route.post(SANDBOX + "/resume", access, pause::resume));
    }
}
