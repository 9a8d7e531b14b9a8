package dev.vivarium.server.telemetry;

import dev.vivarium.core.egress.Passage;
import dev.vivarium.core.sandbox.Observer;
import dev.vivarium.core.sandbox.Sandbox;
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

/// Hears what happens to sandboxes and in them, writes it to the log and counts it. Thread-safe.
public final class Telemetry implements Observer {
    private static final Logger LOG = Logger.getLogger(Telemetry.class.getName());

    private final Metrics metrics;
    private final PassageAudit passages;

    /// Why the pool could not start its last machine; empty since one started.
    private volatile Optional<String> poolTrouble = Optional.empty();

    public Telemetry(Metrics metrics, PassageAudit passages) {
        this.metrics = metrics;
        this.passages = passages;
    }

    @Override
    public void created(SandboxInfo session, Origin origin, Duration took) {
        poolTrouble = Optional.empty();
        metrics.meters().sessionCreated(origin, took);
        log(Event.of("session_created", session).took(took).with("origin", origin == Origin.WARM ? "warm" : "cold"));
    }

    @Override
    public void reused(SandboxInfo session) {
        metrics.meters().sessionReused();
        log(Event.of("session_reused", session));
    }

    @Override
    public void ended(SandboxInfo session) {
        var end = session.end();
        var cause = end.map(End::cause).orElse(End.Cause.SERVER);
        var lived = Duration.between(session.createdAt(), end.map(End::at).orElse(session.lastActivity()));
        metrics.meters().sessionEnded(cause, lived);
        passages.forget(session.id());
        boolean expired = cause == End.Cause.IDLE || cause == End.Cause.LIFETIME;
        log(Event.of(expired ? "session_expired" : "session_ended", session)
                .took(lived)
                .with("cause", cause.label())
                .with("detail", end.map(End::detail).orElse("")));
    }

    @Override
    public void refused(Failure failure) {
        metrics.meters().sessionRefused(failure);
    }

    @Override
    public void passed(SandboxInfo session, Passage passage) {
        metrics.meters().passed(passage);
        passages.record(session, passage);
        log(Event.of("egress", session)
                .took(passage.took())
                .with("method", passage.method())
                .with("host", passage.host())
                .with("port", String.valueOf(passage.port()))
                .with("address", passage.address())
                .with("verdict", passage.verdict().label())
                .with("status", String.valueOf(passage.status()))
                .with("bytes_up", String.valueOf(passage.up()))
                .with("bytes_down", String.valueOf(passage.down())));
    }

    @Override
    public void orphanRemoved(SandboxId id) {
        metrics.meters().orphanRemoved();
        LOG.warning(() -> "removed what was left of " + id);
    }

    @Override
    public void poolStartFailed(Failure failure) {
        poolTrouble = Optional.of(failure.sentence());
        LOG.warning(() -> "a sandbox for the pool did not start: " + failure.sentence());
    }

    @Override
    public void removalFailed(SandboxId id, String why) {
        LOG.warning(() -> id + " could not be removed and will be tried again: " + why);
    }

    /// Why sandboxes cannot be started at present, if they cannot.
    public Optional<String> poolTrouble() {
        return poolTrouble;
    }

    public void commandEnded(SandboxInfo session, String script, Exit exit) {
        metrics.meters().commandEnded(exit);
        String name = switch (exit.cause()) {
            case EXITED, SIGNALLED, CANCELLED, DETACHED -> "command_executed";
            case OOM, TIMEOUT, IDLE_TIMEOUT -> "command_failed";
        };
        log(Event.of(name, session)
                .command(script)
                .exitCode(exit.exitCode())
                .took(exit.wall())
                .with("cause", exit.cause().label()));
    }

    /// The command was lost, given up by its caller, or could not be started.
    public void commandFailed(SandboxInfo session, String script, String cause, Duration took) {
        metrics.meters().commandFailed();
        log(Event.of("command_failed", session).command(script).took(took).with("cause", cause));
    }

    public void commandRefused(SandboxInfo session, Failure.PolicyRefused refusal) {
        metrics.meters().commandRefused();
        log(Event.of("validation_failed", session).command(refusal.command()).with("reason", refusal.why()));
    }

    public void fileUploaded(SandboxInfo session, String name, long bytes, Duration took) {
        metrics.meters().uploaded(bytes);
        log(Event.of("file_uploaded", session).took(took).with("file", name).with("size_bytes", String.valueOf(bytes)));
    }

    public void fileDownloaded(SandboxInfo session, String name, long bytes, Duration took) {
        metrics.meters().downloaded(bytes);
        log(Event.of("file_downloaded", session)
                .took(took)
                .with("file", name)
                .with("size_bytes", String.valueOf(bytes)));
    }

    /// Somebody typed so many characters in a shell; what they were is nobody's business.
    public void typed(Viewer viewer, Sandbox sandbox, int characters) {
        log(Event.of("shell_input", sandbox.info())
                .with("by", viewer.who().user().value())
                .with("shell", viewer.shell().id().value())
                .with("characters", String.valueOf(characters)));
    }

    /// An agent asked a model, and this is what it took.
    public void modelCalled(Usage usage, int status, Duration took) {
        metrics.meters().modelCalled(usage, status, took);
    }

    public void limitExceeded(SandboxInfo session, Failure failure) {
        metrics.meters().limitExceeded(failure.slug());
        log(Event.of("resource_limit_exceeded", session).with("limit", failure.slug()));
    }

    private static void log(Event event) {
        var entry = new LogRecord(Level.INFO, event.line());
        entry.setLoggerName("sandbox");
        entry.setParameters(new Object[] {event});
        LOG.log(entry);
    }
}
