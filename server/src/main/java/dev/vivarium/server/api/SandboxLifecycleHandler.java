package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;
import static dev.vivarium.server.http.Route.Access.scoped;

import dev.vivarium.core.access.Scope;
import dev.vivarium.json.ObjectType;
import dev.vivarium.json.RunJson;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import dev.vivarium.server.operation.EndSandbox;
import dev.vivarium.server.operation.PauseSandbox;
import java.io.IOException;
import java.util.Optional;

/// `DELETE /api/v1/sandboxes/{sandbox_id}`, `POST …/pause` and `…/resume`. Thread-safe.
public final class SandboxLifecycleHandler {
    private static final ObjectType<State> RUN_STATE = object(
            "RunState",
            field("sandbox_id", SANDBOX_ID, State::sandbox),
            field("status", RunJson.STATUS, State::runStatus),
            optional("state", STRING, State::sandboxStatus));

    private record State(SandboxId sandbox, String runStatus, Optional<String> sandboxStatus) {}

    public static final RouteDescription END = RouteDescription.delete("/api/v1/sandboxes/{sandbox_id}", KEY)
            .named("endSandbox", "End a sandbox and everything that runs in it")
            .text("Only for the owner.")
            .answers(200, "The sandbox has ended.", RUN_STATE)
            .fails(404);

    public static final RouteDescription PAUSE = RouteDescription.post(
                    "/api/v1/sandboxes/{sandbox_id}/pause", scoped(Scope.PROCESS))
            .named("pauseRun", "Pause a sandbox and its run")
            .answers(200, "The state of the run.", RUN_STATE)
            .fails(409, 501);

    public static final RouteDescription RESUME = RouteDescription.post(
                    "/api/v1/sandboxes/{sandbox_id}/resume", scoped(Scope.PROCESS))
            .named("resumeRun", "Resume a sandbox and its run")
            .answers(200, "The state of the run.", RUN_STATE)
            .fails(409, 501);

    private final SandboxResolver resolver;
    private final EndSandbox end;
    private final PauseSandbox pause;

    public SandboxLifecycleHandler(SandboxResolver resolver, EndSandbox end, PauseSandbox pause) {
        this.resolver = resolver;
        this.end = end;
        this.pause = pause;
    }

    public void end(Exchange exchange) throws IOException {
        var sandbox = resolver.find(exchange, exchange.path("sandbox_id"));
        exchange.markAudited();
        end.end(exchange.principal(), new EndSandbox.Request(sandbox, "ended by request", END.route()));
        exchange.answer(200, RUN_STATE, new State(sandbox.id(), "terminated", Optional.empty()));
    }

    public void pause(Exchange exchange) throws IOException {
        answer(exchange, pause.pause(exchange.principal(), exchange.sandbox()));
    }

    public void resume(Exchange exchange) throws IOException {
        answer(exchange, pause.resume(exchange.principal(), exchange.sandbox()));
    }

    private static void answer(Exchange exchange, PauseSandbox.Result result) throws IOException {
        var info = result.sandbox();
        String runStatus = RunJson.status(info, result.run());
        exchange.answer(
                200,
                RUN_STATE,
                new State(info.id(), runStatus, Optional.of(info.status().text())));
    }
}
