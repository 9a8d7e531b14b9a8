package dev.vivarium.core.lifecycle;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.SandboxListener;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.End;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventBody;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writer of the events of sandboxes and of their commands. Thread-safe.
///
/// Except for the end of a sandbox, it does not wait for the disk: the store already contains the change.
public final class LifecycleEvents implements SandboxListener, AutoCloseable {
    private static final int LONGEST_LINE = 4096;
    private static final Duration PUBLISH_EVERY = Duration.ofMillis(50);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(LifecycleEvents.class);

    private final EventLog log;
    private final Set<CommandEvents> commands = ConcurrentHashMap.newKeySet();
    private final Scheduler.Jobs jobs;

    public LifecycleEvents(EventLog log, Scheduler scheduler) {
        this.log = log;
        this.jobs = scheduler.jobs().every(PUBLISH_EVERY, "publishing the output of commands", this::publishDue);
    }

    private void publishDue() {
        commands.forEach(CommandEvents::publishDue);
    }

    @Override
    public void created(SandboxInfo sandbox, Origin origin, Duration took) {
        append(sandbox.id(), new SandboxEvent.Started(sandbox.thread(), sandbox.user(), origin.text(), took));
    }

    @Override
    public OutputListener command(SandboxId sandbox, CommandStarted started) {
        boolean isShell = started.kind() == ProcessInfo.Kind.SHELL;
        var target = new CommandEvent.Target(
                started.pid(),
                isShell ? Optional.empty() : started.name(),
                isShell ? started.name() : Optional.empty());
        started.line()
                .ifPresent(line -> append(sandbox, new CommandEvent.Started(target, started.kind(), shortened(line))));
        var self = new AtomicReference<CommandEvents>();
        var events = new CommandEvents(
                target,
                isShell ? CommandEvents.PublishLimits.TERMINAL : CommandEvents.PublishLimits.COMMAND,
                event -> append(sandbox, event),
                () -> commands.remove(self.get()),
                System::nanoTime);
        if (started.name().isPresent()) {
            events.resumedAt(bookmark(sandbox, started, target));
        }
        self.set(events);
        commands.add(events);
        return events;
    }

    /// If an earlier server started the command, the log contains its output up to some byte, and the guest repeats
    /// the output that it still has.
    private CommandEvents.ResumePosition bookmark(
            SandboxId sandbox, CommandStarted started, CommandEvent.Target target) {
        if (started.line().isPresent()) {
            return CommandEvents.ResumePosition.START;
        }
        var published = CommandStarted.Position.START;
        try {
            long after = 0;
            List<Event> page;
            do {
                page = log.read(
                        sandbox, new Query(after, Optional.empty(), Optional.of(CommandEvent.OUTPUT), Query.MOST));
                for (Event event : page) {
                    published = end(event, target, published);
                    after = event.seq();
                }
            } while (!page.isEmpty());
        } catch (SandboxException e) {
            LOG.warn(
                    "The log of {} cannot be read. It may contain output of process {} twice: {}",
                    sandbox,
                    target.pid(),
                    e.getMessage());
        }
        return new CommandEvents.ResumePosition(started.place(), published);
    }

    /// Returns the position after an event, or `before` if the event belongs to another command.
    private CommandStarted.Position end(Event event, CommandEvent.Target target, CommandStarted.Position before) {
        return isOurs(event)
                        && log.codec().decode(event) instanceof CommandEvent.Output output
                        && output.target().equals(target)
                ? new CommandStarted.Position(
                        output.stdout().end().orElse(before.stdout()),
                        output.stderr().end().orElse(before.stderr()))
                : before;
    }

    /// Truncates a command line between two characters, because readers refuse half of a surrogate pair.
    private static String shortened(String text) {
        if (text.length() <= LONGEST_LINE) {
            return text;
        }
        boolean isPair = Character.isSurrogatePair(text.charAt(LONGEST_LINE - 1), text.charAt(LONGEST_LINE));
        return text.substring(0, isPair ? LONGEST_LINE - 1 : LONGEST_LINE) + "…";
    }

    @Override
    public void paused(SandboxInfo sandbox, PauseReason why) {
        append(sandbox.id(), new SandboxEvent.Paused(why.cause().text(), why.detail()));
    }

    @Override
    public void resumed(SandboxInfo sandbox, PauseReason why) {
        append(sandbox.id(), new SandboxEvent.Resumed(why.cause().text(), why.detail()));
    }

    @Override
    public void hibernated(SandboxInfo sandbox, PauseReason why) {
        append(sandbox.id(), new SandboxEvent.Hibernated(why.cause().text(), why.detail(), sandbox.endsAt()));
    }

    @Override
    public void woken(SandboxInfo sandbox, Duration took) {
        append(sandbox.id(), new SandboxEvent.Woken(took));
    }

    @Override
    public void recovered(SandboxInfo sandbox, Recovery how) {
        append(sandbox.id(), new SandboxEvent.Recovered(how.text()));
    }

    /// Reports whether this is the last event of a sandbox.
    static boolean isEnd(Event event) {
        return event.type().equals(SandboxEvent.TERMINATED) && isOurs(event);
    }

    /// Reports whether the log contains the last event of a sandbox.
    static boolean hasEnd(EventLog log, SandboxId sandbox) {
        return !log.newest(sandbox, SandboxEvent.TERMINATED, 1).isEmpty();
    }

    private static boolean isOurs(Event event) {
        return event.source().equals(NewEvent.OURS);
    }

    /// Waits until the event is durable: a caller that ended the sandbox then reads the event in the log. If the
    /// store fails, this server tries again every second, and after that the next server.
    @Override
    public void removed(SandboxInfo sandbox) {
        try {
            log.append(sandbox.id(), end(sandbox));
        } catch (SandboxException e) {
            LOG.warn("The end of {} is logged later: {}", sandbox.id(), e.getMessage());
            retryLater(sandbox);
        }
    }

    private void retryLater(SandboxInfo sandbox) {
        jobs.once(RETRY, "append of an end", () -> retry(sandbox));
    }

    private void retry(SandboxInfo sandbox) {
        try {
            log.append(sandbox.id(), end(sandbox));
        } catch (SandboxException e) {
            retryLater(sandbox);
        }
    }

    /// Appends, in the background, the ends that an earlier server stored and did not log.
    public void catchUp(Supplier<List<SandboxInfo>> ended) {
        jobs.once(Duration.ZERO, "append of earlier ends", () -> {
            try {
                ended.get().stream()
                        .filter(sandbox -> !hasEnd(log, sandbox.id()))
                        .forEach(this::removed);
            } catch (SandboxException e) {
                LOG.warn("Missing ends of sandboxes are logged at the next start: {}", e.getMessage());
            }
        });
    }

    /// The id is derived from the sandbox, so that the log contains one end however often it is appended.
    private static NewEvent end(SandboxInfo sandbox) {
        var body = new SandboxEvent.Terminated(
                sandbox.end().map(End::cause).orElse(End.Cause.SERVER),
                sandbox.end().map(End::detail));
        return new NewEvent(Optional.of(NewEvent.OUR_IDS + sandbox.id() + ".terminated"), body, NewEvent.OURS);
    }

    private void append(SandboxId sandbox, EventBody body) {
        log.note(sandbox, NewEvent.of(body, NewEvent.OURS));
    }

    /// Stops publishing the output of commands. Idempotent.
    @Override
    public void close() {
        jobs.close();
    }
}
