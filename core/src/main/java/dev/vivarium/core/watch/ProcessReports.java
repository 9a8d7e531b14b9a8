package dev.vivarium.core.watch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.model.ProcessEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// Reports about the processes of one sandbox, until they are published. Thread-safe.
///
/// A report waits for [#DELAY], because the kernel is faster than a worker that reports the same command of a tool.
final class ProcessReports {
    static final Duration DELAY = Duration.ofMillis(300);

    /// Limit of reports that wait. The provider limits their rate to less.
    private static final int MAX_WAITING = 1000;

    /// Shell commands of tools that no process has executed yet.
    private static final int MAX_TOOL_COMMANDS = 16;

    private final Consumer<ProcessEvent> log;
    private final LongSupplier nanos;

    @GuardedBy("this")
    private final Deque<Report> waiting = new ArrayDeque<>();

    @GuardedBy("this")
    private final Deque<String> toolCommands = new ArrayDeque<>();

    /// Processes that executed a command of a tool.
    @GuardedBy("this")
    private final Set<Integer> hidden = new HashSet<>();

    @GuardedBy("this")
    private boolean closed;

    private record Report(ProcessEvent event, long atNanos) {}

    ProcessReports(Consumer<ProcessEvent> log, LongSupplier nanos) {
        this.log = log;
        this.nanos = nanos;
    }

    synchronized void add(ProcessEvent event) {
        if (waiting.size() < MAX_WAITING) {
            waiting.add(new Report(event, nanos.getAsLong()));
        }
    }

    synchronized void addToolCommand(String line) {
        if (toolCommands.size() == MAX_TOOL_COMMANDS) {
            toolCommands.remove();
        }
        toolCommands.add(withoutQuotes(line));
    }

    synchronized void publishDue() {
        while (!closed && !waiting.isEmpty() && nanos.getAsLong() - waiting.element().atNanos >= DELAY.toNanos()) {
            publishLocked(waiting.remove().event);
        }
    }

    @GuardedBy("this")
    private void publishLocked(ProcessEvent event) {
        boolean isHidden = switch (event) {
            case ProcessEvent.Started(int pid, String line) -> isOfToolLocked(line) && hidden.add(pid);
            case ProcessEvent.Completed completed -> hidden.remove(completed.pid());
            case ProcessEvent.Folded _ -> false;
        };
        if (!isHidden) {
            log.accept(event);
        }
    }

    /// An SDK types the command into its shell, which executes a program with the same command line, or passes it
    /// to a new shell as the operand of `eval`, with other quotes.
    @GuardedBy("this")
    private boolean isOfToolLocked(String line) {
        if (toolCommands.isEmpty()) {
            return false;
        }
        String words = withoutQuotes(line);
        return toolCommands.removeIf(command -> words.equals(command) || words.contains("eval" + command));
    }

    private static String withoutQuotes(String line) {
        return line.replaceAll("[\\s'\"\\\\]", "");
    }

    /// Drops the reports that wait. Nothing is published afterwards.
    synchronized void close() {
        closed = true;
        waiting.clear();
    }
}
