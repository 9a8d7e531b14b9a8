package dev.vivarium.server.operation;

import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.server.telemetry.Telemetry;
import java.time.Duration;

/// Reporter of the end of one command to the telemetry. It reports once. Confined to one thread.
final class CommandReport {
    private static final String CLIENT_GONE = "client-gone";

    private final Telemetry telemetry;
    private final SandboxInfo sandbox;
    private final String script;
    private final long start = System.nanoTime();
    private boolean isReported;

    CommandReport(Telemetry telemetry, SandboxInfo sandbox, String script) {
        this.telemetry = telemetry;
        this.sandbox = sandbox;
        this.script = script;
    }

    void exited(Exit exit) {
        isReported = true;
        telemetry.commandEnded(sandbox, script, exit);
    }

    void failed(Failure failure) {
        failed(failure.slug());
    }

    /// Reports that the client closed its connection while the command was running.
    void abandoned() {
        failed(CLIENT_GONE);
    }

    private void failed(String slug) {
        if (!isReported) {
            isReported = true;
            telemetry.commandFailed(sandbox, script, slug, Duration.ofNanos(System.nanoTime() - start));
        }
    }
}
