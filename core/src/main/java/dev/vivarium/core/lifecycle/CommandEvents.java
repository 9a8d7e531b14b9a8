package dev.vivarium.core.lifecycle;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Utf8Decoder;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// Writer of the events of one command. Thread-safe.
///
/// It publishes the first output at once, and collects later output for [PublishLimits]. If there is too much output,
/// an event contains the beginning and the number of omitted bytes.
final class CommandEvents implements OutputListener {
    /// Characters of one stream in one event.
    private static final int MAX_AT_ONCE = 8 * 1024;

    private final CommandEvent.Target target;
    private final PublishLimits publishLimits;
    private final Consumer<CommandEvent> log;
    private final Runnable onEnd;
    private final LongSupplier nanos;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<ExecEvent.Stream, StreamText> streams = new EnumMap<>(ExecEvent.Stream.class);

    /// Whether events contain the end position of each stream.
    @GuardedBy("lock")
    private boolean hasPositions;

    /// Characters published so far.
    @GuardedBy("lock")
    private int published;

    @GuardedBy("lock")
    private long omitted;

    @GuardedBy("lock")
    private long publishedAt;

    @GuardedBy("lock")
    private boolean ended;

    /// Frequency and amount of output events.
    enum PublishLimits {
        COMMAND(100_000_000, 1 << 20),
        /// Published by [#publishDue] only, because the thread that reads a terminal also echoes the input.
        TERMINAL(250_000_000, 16 << 20);

        private final long nanos;

        /// Characters of the whole command. Later events contain only the number of omitted bytes.
        private final int maxInAll;

        PublishLimits(long nanos, int maxInAll) {
            this.nanos = nanos;
            this.maxInAll = maxInAll;
        }
    }

    /// Positions at which the events of a command resume after a restart of the server. Immutable.
    ///
    /// @param from      position of the first byte that the listener receives
    /// @param published position up to which the log contains the output
    record ResumePosition(CommandStarted.Position from, CommandStarted.Position published) {
        static final ResumePosition START =
                new ResumePosition(CommandStarted.Position.START, CommandStarted.Position.START);
    }

    /// @param onEnd called after the last event
    CommandEvents(
            CommandEvent.Target target,
            PublishLimits publishLimits,
            Consumer<CommandEvent> log,
            Runnable onEnd,
            LongSupplier nanos) {
        this.target = target;
        this.publishLimits = publishLimits;
        this.log = log;
        this.onEnd = onEnd;
        this.nanos = nanos;
        this.publishedAt = nanos.getAsLong() - publishLimits.nanos;
    }

    /// Resumes at a bookmark. From now on events contain positions.
    CommandEvents resumedAt(ResumePosition at) {
        lock.lock();
        try {
            streams.put(ExecEvent.Stream.STDOUT, new StreamText(at.from.stdout(), at.published.stdout()));
            streams.put(ExecEvent.Stream.STDERR, new StreamText(at.from.stderr(), at.published.stderr()));
            hasPositions = true;
        } finally {
            lock.unlock();
        }
        return this;
    }

    @Override
    public void output(ExecEvent.Stream stream, byte[] bytes) {
        lock.lock();
        try {
            int room = Math.min(MAX_AT_ONCE, publishLimits.maxInAll - published);
            omitted +=
                    streams.computeIfAbsent(stream, s -> new StreamText(0, 0)).add(bytes, room);
            if (publishLimits == PublishLimits.COMMAND && isDueLocked()) {
                publishLocked();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Publishes the collected output if the interval has passed.
    void publishDue() {
        lock.lock();
        try {
            if (isDueLocked()) {
                publishLocked();
            }
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private boolean isDueLocked() {
        return nanos.getAsLong() - publishedAt >= publishLimits.nanos;
    }

    @Override
    public void lost() {
        lock.lock();
        try {
            publishLocked();
        } finally {
            lock.unlock();
        }
        onEnd.run();
    }

    @Override
    public void exited(Exit exit) {
        end(
                exit.cause(),
                Optional.of(
                        new CommandEvent.Result(exit.exitCode(), exit.wall(), exit.stdoutBytes(), exit.stderrBytes())));
    }

    @Override
    public void left() {
        end(Exit.Cause.CANCELLED, Optional.empty());
    }

    private void end(Exit.Cause cause, Optional<CommandEvent.Result> result) {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            publishLocked();
            log.accept(new CommandEvent.Completed(target, cause, result));
        } finally {
            lock.unlock();
        }
        onEnd.run();
    }

    @GuardedBy("lock")
    private void publishLocked() {
        if (omitted == 0 && streams.values().stream().allMatch(StreamText::isEmpty)) {
            return;
        }
        CommandEvent.Text stdout = takeLocked(ExecEvent.Stream.STDOUT);
        CommandEvent.Text stderr = takeLocked(ExecEvent.Stream.STDERR);
        log.accept(new CommandEvent.Output(target, stdout, stderr, omitted));
        omitted = 0;
        publishedAt = nanos.getAsLong();
    }

    @GuardedBy("lock")
    private CommandEvent.Text takeLocked(ExecEvent.Stream stream) {
        StreamText text = streams.get(stream);
        if (text == null) {
            return CommandEvent.Text.NONE;
        }
        Optional<String> taken = text.isEmpty() ? Optional.empty() : Optional.of(text.take());
        published += taken.map(String::length).orElse(0);
        return new CommandEvent.Text(taken, hasPositions && text.end > 0 ? Optional.of(text.end) : Optional.empty());
    }

    /// Collected text of one stream. It decodes a character whose bytes arrive in two pieces.
    private static final class StreamText {
        private final Utf8Decoder decoder = new Utf8Decoder();
        private final StringBuilder text = new StringBuilder();

        /// Position after the last byte.
        private long end;

        /// Position up to which the log contains the output.
        private final long known;

        StreamText(long from, long known) {
            this.end = from;
            this.known = known;
        }

        /// Adds bytes until the text has `max` characters. Returns the number of omitted bytes.
        long add(byte[] all, int max) {
            int old = (int) Math.clamp(known - end, 0, all.length);
            end += all.length;
            int room = Math.max(0, max - text.length());
            int taken = Math.min(all.length - old, room);
            int omitted = all.length - old - taken;
            text.append(decoder.decode(all, old, taken));
            if (omitted > 0) {
                decoder.end();
            }
            return omitted;
        }

        boolean isEmpty() {
            return text.isEmpty();
        }

        String take() {
            var all = text.toString();
            text.setLength(0);
            return all;
        }
    }
}
