package dev.vivarium.server.api;

import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.SessionJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.settings.EngineConfig;
import java.io.IOException;
import java.time.Duration;

/// `POST /create_session`: gives the thread a sandbox, or says which one it has. Thread-safe.
public final class CreateSessionHandler {
    private final Sandboxes sandboxes;
    private final EngineConfig config;

    public CreateSessionHandler(Sandboxes sandboxes, EngineConfig config) {
        this.sandboxes = sandboxes;
        this.config = config;
    }

    public void handle(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var request =
                SessionJson.readRequest(exchange.json(), exchange.principal().user(), config.limits());
        if (!exchange.principal().mayActFor(request.user())) {
            throw new SandboxException(new Failure.NotAllowed("a user's key acts for its own user_id only"));
        }
        check(request);
        var opened = sandboxes.open(request);
        var info = opened.sandbox().info();
        if (opened.created()) {
            exchange.answer(201, out -> SessionJson.write(out, info, SessionJson.Found.CREATED));
        } else {
            exchange.answer(409, out -> SessionJson.write(out, info, SessionJson.Found.EXISTING));
        }
    }

    private void check(NewSandbox request) {
        EnvironmentRule.check(request.env());
        request.idleTimeout().ifPresent(this::checkTimeout);
        request.limits().ifPresent(this::checkLimits);
    }

    private void checkTimeout(Duration timeout) {
        Duration most = config.lifetime().maxIdleTimeout();
        require(timeout.compareTo(most) <= 0, "timeout_minutes", "must be at most " + most.toMinutes());
    }

    /// What the operator configured is the most that anybody gets.
    private void checkLimits(Limits wanted) {
        Limits most = config.limits();
        require(
                wanted.memoryBytes() <= most.memoryBytes(),
                "limits.memory_mb",
                "must be at most " + (most.memoryBytes() >> 20));
        require(wanted.cpus() <= most.cpus(), "limits.cpus", "must be at most " + most.cpus());
        require(wanted.processes() <= most.processes(), "limits.processes", "must be at most " + most.processes());
        require(
                wanted.diskBytes() == most.diskBytes(),
                "limits.disk_mb",
                "is the server's choice: " + (most.diskBytes() >> 20));
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw new SandboxException(new Failure.InvalidRequest(field, rule));
        }
    }
}
