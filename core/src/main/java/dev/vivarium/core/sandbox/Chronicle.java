package dev.vivarium.core.sandbox;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.model.End;
import dev.vivarium.model.EventData;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.Locale;

/// Keeps the life of every sandbox in its log. It does not wait for the disk: what changed is in the store already, and
/// the log says when and why. Thread-safe.
public final class Chronicle implements Observer {
    private static final String SOURCE = "sandbox";

    private final EventLog log;

    public Chronicle(EventLog log) {
        this.log = log;
    }

    @Override
    public void created(SandboxInfo sandbox, Origin origin, Duration took) {
        tell(
                sandbox,
                "sandbox.started",
                EventData.of("thread_id", sandbox.thread().value())
                        .with("user_id", sandbox.user().value())
                        .with("origin", origin.name().toLowerCase(Locale.ROOT))
                        .with("took_ms", took.toMillis()));
    }

    @Override
    public void paused(SandboxInfo sandbox) {
        tell(sandbox, "sandbox.paused", EventData.nothing());
    }

    @Override
    public void resumed(SandboxInfo sandbox) {
        tell(sandbox, "sandbox.resumed", EventData.nothing());
    }

    @Override
    public void recovered(SandboxInfo sandbox, Recovery how) {
        tell(sandbox, "sandbox.recovered", EventData.of("how", how.name().toLowerCase(Locale.ROOT)));
    }

    @Override
    public void ended(SandboxInfo sandbox) {
        var data = sandbox.end()
                .map(end -> EventData.of("reason", end.cause().label()).with("detail", end.detail()))
                .orElse(EventData.of("reason", End.Cause.SERVER.label()));
        tell(sandbox, "sandbox.terminated", data);
    }

    private void tell(SandboxInfo sandbox, String type, EventData data) {
        log.note(sandbox.id(), NewEvent.of(type, data.text(), SOURCE));
    }
}
