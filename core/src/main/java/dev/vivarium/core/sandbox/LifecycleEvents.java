package dev.vivarium.core.sandbox;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.model.End;
import dev.vivarium.model.Event;
import dev.vivarium.model.EventData;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps the life of every sandbox in its log. But for the end it does not wait for the disk: what changed is in the
/// store already, and the log says when and why. Thread-safe.
public final class LifecycleEvents implements SandboxListener, AutoCloseable {
    private static final String SOURCE = NewEvent.OURS;
    private static final String END = "sandbox.terminated";

    private static final int LONGEST_LINE = 4096;
    private static final Duration BEAT = Duration.ofMillis(50);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(LifecycleEvents.class);
    private static final Pattern STDOUT_END =
            Pattern.compile("(?<!\\\\)\"stdout" + CommandEvents.END + "\":(\\d{1,18})");
    private static final Pattern STDERR_END =
            Pattern.compile("(?<!\\\\)\"stderr" + CommandEvents.END + "\":(\\d{1,18})");

    private final EventLog log;
    private final Set<CommandEvents> allCommandEvents = ConcurrentHashMap.newKeySet();
    private final Scheduler.Jobs jobs;

    public LifecycleEvents(EventLog log, Scheduler scheduler) {
        this.log = log;
        this.jobs = scheduler.jobs().every(BEAT, "logging of command output", this::beat);
    }

    private void beat() {
        allCommandEvents.forEach(CommandEvents::beat);
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
    public OutputListener command(SandboxId sandbox, CommandStarted commandStarted) {
        EventData head = head(commandStarted);
        commandStarted.line().ifPresent(line -> tell(sandbox, "command.started", started(head, commandStarted, line)));
        var self = new AtomicReference<CommandEvents>();
        var pace = commandStarted.kind() == ProcessInfo.Kind.SHELL
                ? CommandEvents.Pace.TERMINAL
                : CommandEvents.Pace.COMMAND;
        var commandEvents = new CommandEvents(
                head,
                pace,
                (type, data) -> tell(sandbox, type, data),
                () -> allCommandEvents.remove(self.get()),
                System::nanoTime);
        if (commandStarted.name().isPresent()) {
            commandEvents.continued(bookmark(sandbox, commandStarted));
        }
        self.set(commandEvents);
        allCommandEvents.add(commandEvents);
        return commandEvents;
    }

    private static EventData head(CommandStarted commandStarted) {
        var pid = EventData.of("pid", commandStarted.pid());
        String name = commandStarted.kind() == ProcessInfo.Kind.SHELL ? "session_id" : "process_id";
        return pid.with(name, commandStarted.name());
    }

    private static EventData started(EventData head, CommandStarted commandStarted, String line) {
        return head.with("kind", commandStarted.kind().name().toLowerCase(Locale.ROOT))
                .with("command", shortened(line));
    }

    /// One that an earlier server started was told of up to some byte, and the guest says again what it remembers.
    private CommandEvents.Bookmark bookmark(SandboxId sandbox, CommandStarted commandStarted) {
        if (commandStarted.line().isPresent()) {
            return CommandEvents.Bookmark.START;
        }
        String head = head(commandStarted).text();
        String mark = head.substring(0, head.length() - 1);
        var told = CommandStarted.Place.START;
        try {
            long after = 0;
            List<Event> page;
            do {
                page = log.read(sandbox, new Query(after, Optional.empty(), Optional.of("command.output"), Query.MOST));
                for (Event event : page) {
                    told = isOurs(event) && event.data().startsWith(mark) ? place(event.data(), told) : told;
                    after = event.seq();
                }
            } while (!page.isEmpty());
        } catch (SandboxException e) {
            LOG.warn("what {} told before is not known, and may be told twice: {}", head, e.getMessage());
        }
        return new CommandEvents.Bookmark(commandStarted.place(), told);
    }

    /// How far an event of ours goes.
    private static CommandStarted.Place place(String data, CommandStarted.Place before) {
        return new CommandStarted.Place(end(STDOUT_END, data, before.stdout()), end(STDERR_END, data, before.stderr()));
    }

    /// The last one in it: what a command says cannot have it, since a quote in a text is escaped.
    private static long end(Pattern pattern, String data, long otherwise) {
        long end = otherwise;
        for (Matcher matcher = pattern.matcher(data); matcher.find(); ) {
            end = Long.parseLong(matcher.group(1));
        }
        return end;
    }

    private static String shortened(String text) {
        return text.length() <= LONGEST_LINE ? text : text.substring(0, LONGEST_LINE) + "…";
    }

    @Override
    public void paused(SandboxInfo sandbox, PauseReason why) {
        tell(sandbox, "sandbox.paused", reason(why));
    }

    @Override
    public void resumed(SandboxInfo sandbox, PauseReason why) {
        tell(sandbox, "sandbox.resumed", reason(why));
    }

    private static EventData reason(PauseReason why) {
        return EventData.of("reason", why.cause().label()).with("detail", why.detail());
    }

    @Override
    public void recovered(SandboxInfo sandbox, Recovery how) {
        tell(sandbox, "sandbox.recovered", EventData.of("how", how.name().toLowerCase(Locale.ROOT)));
    }

    /// Reports whether this is the last of a sandbox's life.
    static boolean isEnd(Event event) {
        return event.type().equals(END) && isOurs(event);
    }

    /// Reports whether the last of a sandbox's life was told.
    static boolean hasEnd(EventLog log, SandboxId sandbox) {
        return !log.newest(sandbox, END, 1).isEmpty();
    }

    /// Reports whether the server saw it itself.
    public static boolean isOurs(Event event) {
        return event.source().equals(SOURCE);
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
        jobs.once(RETRY, "logging of an end", () -> retry(sandbox));
    }

    private void retry(SandboxInfo sandbox) {
        try {
            log.append(sandbox.id(), end(sandbox));
        } catch (SandboxException e) {
            retryLater(sandbox);
        }
    }

    /// Tells, by and by, of those ends that a server before has stored and, when it died, not told yet.
    public void catchUp(Supplier<List<SandboxInfo>> ended) {
        jobs.once(Duration.ZERO, "logging of earlier ends", () -> {
            try {
                ended.get().stream()
                        .filter(sandbox -> !hasEnd(log, sandbox.id()))
                        .forEach(this::removed);
            } catch (SandboxException e) {
                LOG.warn("ends that were not told stay so until the next start: {}", e.getMessage());
            }
        });
    }

    /// It has one id for each sandbox: whoever tells it, it is kept once.
    private static NewEvent end(SandboxInfo sandbox) {
        var data = sandbox.end()
                .map(end -> EventData.of("reason", end.cause().label()).with("detail", end.detail()))
                .orElse(EventData.of("reason", End.Cause.SERVER.label()));
        return new NewEvent(Optional.of(NewEvent.OUR_IDS + sandbox.id() + ".terminated"), END, data.text(), SOURCE);
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
        jobs.close();
    }
}
