package dev.vivarium.server.telemetry;

import dev.vivarium.core.egress.EgressRecord;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.core.shell.Viewer;
import dev.vivarium.model.End;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Usage;
import java.time.Duration;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// Listener that writes sandbox and command events to the log and counts them. Thread-safe.
public final class Telemetry implements SandboxListener {
    private static final Logger LOG = Logger.getLogger(Telemetry.class.getName());

    private final Metrics metrics;
    private final EgressAudit egressRecords;

    /// Last start failure of the pool; empty after a successful start.
    private volatile Optional<String> poolFailure = Optional.empty();

    public Telemetry(Metrics metrics, EgressAudit egressRecords) {
        this.metrics = metrics;
        this.egressRecords = egressRecords;
    }

    @Override
    public void created(SandboxInfo session, Origin origin, Duration took) {
        poolFailure = Optional.empty();
        metrics.meters().sessionCreated(origin, took);
        log(LogEvent.of("session_created", session).took(took).with("origin", origin == Origin.WARM ? "warm" : "cold"));
    }

    @Override
    public void reused(SandboxInfo session) {
        metrics.meters().sessionReused();
        log(LogEvent.of("session_reused", session));
    }

    @Override
    public void removed(SandboxInfo session) {
        var end = session.end();
        var cause = end.map(End::cause).orElse(End.Cause.SERVER);
        var lived = Duration.between(session.createdAt(), end.map(End::at).orElse(session.lastActivity()));
        metrics.meters().sessionEnded(cause, lived);
        egressRecords.forget(session.id());
        boolean expired = cause == End.Cause.IDLE || cause == End.Cause.LIFETIME;
        log(LogEvent.of(expired ? "session_expired" : "session_ended", session)
                .took(lived)
                .with("cause", cause.text())
                .with("detail", end.map(End::detail).orElse("")));
    }

    @Override
    public void hibernated(SandboxInfo session, PauseReason why) {
        metrics.meters().sessionHibernated(why);
        log(LogEvent.of("session_hibernated", session)
                .with("cause", why.cause().text())
                .with("detail", why.detail())
                .with("kept_until", session.endsAt().toString()));
    }

    @Override
    public void woken(SandboxInfo session, Duration took) {
        metrics.meters().sessionWoken(took);
        log(LogEvent.of("session_woken", session).took(took));
    }

    @Override
    public void refused(Failure failure) {
        metrics.meters().sessionRefused(failure);
    }

    @Override
    public void passed(SandboxInfo session, EgressRecord egressRecord) {
        metrics.meters().passed(egressRecord);
        egressRecords.record(session, egressRecord);
        log(LogEvent.of("egress", session)
                .took(egressRecord.took())
                .with("method", egressRecord.method())
                .with("host", egressRecord.host())
                .with("port", egressRecord.port())
                .with("address", egressRecord.address())
                .with("verdict", egressRecord.verdict().text())
                .with("status", egressRecord.status())
                .with("bytes_up", egressRecord.up())
                .with("bytes_down", egressRecord.down()));
    }

    @Override
    public void orphanRemoved(SandboxId id) {
        metrics.meters().orphanRemoved();
        LOG.warning(() -> "removed what was left of " + id);
    }

    @Override
    public void poolStartFailed(Failure failure) {
        poolFailure = Optional.of(failure.sentence());
        LOG.warning(() -> "a sandbox for the pool did not start: " + failure.sentence());
    }

    @Override
    public void removalFailed(SandboxId id, String why) {
        LOG.warning(() -> "cannot remove " + id + ", will try again: " + why);
    }

    /// Returns the reason why sandboxes cannot start at present, if there is one.
    public Optional<String> poolFailure() {
        return poolFailure;
    }

    public void commandEnded(SandboxInfo session, String script, Exit exit) {
        metrics.meters().commandEnded(exit);
        String name = switch (exit.cause()) {
            case EXITED, SIGNALLED, CANCELLED, DETACHED -> "command_executed";
            case OOM, TIMEOUT, IDLE_TIMEOUT -> "command_failed";
        };
        log(LogEvent.of(name, session)
                .command(script)
                .exitCode(exit.exitCode())
                .took(exit.wall())
                .with("cause", exit.cause().text()));
    }

    /// Records that a command was lost, abandoned by its caller, or not started.
    public void commandFailed(SandboxInfo session, String script, String cause, Duration took) {
        metrics.meters().commandFailed();
        log(LogEvent.of("command_failed", session).command(script).took(took).with("cause", cause));
    }

    public void commandRefused(SandboxInfo session, Failure.PolicyRefused refusal) {
        metrics.meters().commandRefused();
        log(LogEvent.of("validation_failed", session).command(refusal.command()).with("reason", refusal.sentence()));
    }

    public void fileUploaded(SandboxInfo session, String name, long bytes, Duration took) {
        metrics.meters().uploaded(bytes);
        log(LogEvent.of("file_uploaded", session).took(took).with("file", name).with("size_bytes", bytes));
    }

    public void fileDownloaded(SandboxInfo session, String name, long bytes, Duration took) {
        metrics.meters().downloaded(bytes);
        log(LogEvent.of("file_downloaded", session)
                .took(took)
                .with("file", name)
                .with("size_bytes", bytes));
    }

    /// Records how many characters a user typed in a shell. The log never contains the characters.
    public void typed(Viewer viewer, Sandbox sandbox, int characters) {
        log(LogEvent.of("shell_input", sandbox.info())
                .with("by", viewer.who().user().value())
                .with("shell", viewer.shell().id().value())
                .with("characters", characters));
    }

    /// Records the usage of a model call.
    public void modelCalled(Usage usage, int status, Duration took) {
        metrics.meters().modelCalled(usage, status, took);
    }

    /// Records a failed upload, if a limit was the reason. The session is empty if the server refused the file
    /// before it read the session.
    public void uploadFailed(Optional<SandboxInfo> session, Failure failure) {
        if (failure instanceof Failure.FileTooLarge
                || failure instanceof Failure.TooManyFiles
                || failure instanceof Failure.WorkspaceFull
                || failure instanceof Failure.DiskFull) {
            metrics.meters().limitExceeded(failure.slug());
            String event = "resource_limit_exceeded";
            log(session.map(info -> LogEvent.of(event, info))
                    .orElseGet(() -> LogEvent.of(event))
                    .with("limit", failure.slug()));
        }
    }

    private static void log(LogEvent event) {
        var entry = new LogRecord(Level.INFO, event.line());
        entry.setLoggerName("sandbox");
        entry.setParameters(new Object[] {event});
        LOG.log(entry);
    }
}
