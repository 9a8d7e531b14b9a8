package dev.vivarium.core.sandbox;

import dev.vivarium.core.exec.Audience;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.model.Command;
import dev.vivarium.model.End;
import dev.vivarium.model.EventData;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/// Keeps the life of every sandbox in its log. It does not wait for the disk: what changed is in the store already, and
/// the log says when and why. Thread-safe.
public final class Chronicle implements Observer, AutoCloseable {
    private static final String SOURCE = "sandbox";

    private static final int LONGEST_LINE = 4096;
    private static final long BEAT = 50;

    private final EventLog log;
    private final Set<CommandStory> stories = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService pulse = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("chronicle").factory());

    public Chronicle(EventLog log) {
        this.log = log;
        var _ = pulse.scheduleWithFixedDelay(this::beat, BEAT, BEAT, TimeUnit.MILLISECONDS);
    }

    private void beat() {
        stories.forEach(CommandStory::beat);
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
    public Audience command(SandboxId sandbox, Command command, int pid) {
        tell(sandbox, "command.started", EventData.of("pid", pid).with("command", shortened(line(command))));
        var self = new AtomicReference<CommandStory>();
        var story = new CommandStory(pid, (type, data) -> tell(sandbox, type, data), () -> stories.remove(self.get()));
        self.set(story);
        stories.add(story);
        return story;
    }

    /// As a person would type it; a script by itself.
    private static String line(Command command) {
        var argv = command.argv();
        boolean isScript = argv.size() == 3
                && argv.getFirst().endsWith("bash")
                && argv.get(1).equals("-c");
        return isScript ? argv.getLast() : String.join(" ", argv);
    }

    private static String shortened(String text) {
        return text.length() <= LONGEST_LINE ? text : text.substring(0, LONGEST_LINE) + "…";
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
        tell(sandbox.id(), type, data);
    }

    private void tell(SandboxId sandbox, String type, EventData data) {
        log.note(sandbox, NewEvent.of(type, data.text(), SOURCE));
    }

    /// Tells no more of commands that run. Idempotent.
    @Override
    public void close() {
        pulse.shutdownNow();
    }
}
