package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.model.EventData;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Utf8Decoder;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;

/// What one command writes, on its way into the log. The first words go at once; what comes soon after is collected and
/// told in one event. Of a flood only the beginning of each event is kept, and how much was left out is said.
/// Thread-safe.
final class CommandEvents implements OutputListener {
    /// Of each stream, in one event.
    private static final int MOST_AT_ONCE = 8 * 1024;

    /// What follows the name of a stream where it is said how far an event goes.
    static final String END = "_end";

    private final EventData head;
    private final Pace pace;
    private final BiConsumer<String, EventData> log;
    private final Runnable over;
    private final Ticker ticker;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<ExecEvent.Stream, Words> words = new EnumMap<>(ExecEvent.Stream.class);

    /// Whether events say how far they go.
    @GuardedBy("lock")
    private boolean counted;

    @GuardedBy("lock")
    private int told;

    @GuardedBy("lock")
    private long folded;

    @GuardedBy("lock")
    private long toldAt;

    @GuardedBy("lock")
    private boolean ended;

    /// How fast and how much is told.
    ///
    /// @param mostInAll of a whole command; afterwards only the amount is told
    enum Pace {
        /// The first words at once.
        COMMAND(100_000_000, 1 << 20),
        /// Never by the worker that shows people what they type.
        TERMINAL(250_000_000, 16 << 20);

        private final long pause;
        private final int mostInAll;

        Pace(long pause, int mostInAll) {
            this.pause = pause;
            this.mostInAll = mostInAll;
        }
    }

    /// Where the story of a command that was found again goes on. Immutable.
    ///
    /// @param from how many bytes of each stream came before those that are heard
    /// @param told how many of them were told before
    record Bookmark(CommandStarted.Place from, CommandStarted.Place told) {
        static final Bookmark START = new Bookmark(CommandStarted.Place.START, CommandStarted.Place.START);
    }

    /// @param head what every event begins with
    /// @param log takes the type and the data of an event
    /// @param over is called when there is nothing more to tell
    CommandEvents(EventData head, Pace pace, BiConsumer<String, EventData> log, Runnable over, Ticker ticker) {
        this.head = head;
        this.pace = pace;
        this.log = log;
        this.over = over;
        this.ticker = ticker;
        this.toldAt = ticker.nanos() - pace.pause;
    }

    /// Goes on where an earlier server stopped; every event says how far it goes.
    CommandEvents continued(Bookmark at) {
        lock.lock();
        try {
            words.put(ExecEvent.Stream.STDOUT, new Words(at.from.stdout(), at.told.stdout()));
            words.put(ExecEvent.Stream.STDERR, new Words(at.from.stderr(), at.told.stderr()));
            counted = true;
        } finally {
            lock.unlock();
        }
        return this;
    }

    @Override
    public void output(ExecEvent.Stream stream, byte[] bytes) {
        lock.lock();
        try {
            int room = Math.min(MOST_AT_ONCE, pace.mostInAll - told);
            folded += words.computeIfAbsent(stream, s -> new Words(0, 0)).add(bytes, room);
            if (pace == Pace.COMMAND && ticker.nanos() - toldAt >= pace.pause) {
                tellLocked();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Tells what has been collected for long enough.
    void beat() {
        lock.lock();
        try {
            if (ticker.nanos() - toldAt >= pace.pause) {
                tellLocked();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void lost() {
        lock.lock();
        try {
            tellLocked();
        } finally {
            lock.unlock();
        }
        over.run();
    }

    @Override
    public void exited(Exit exit) {
        end(head.with("exit_code", exit.exitCode())
                .with("cause", exit.cause().label())
                .with("duration_ms", exit.wall().toMillis())
                .with("stdout_bytes", exit.stdoutBytes())
                .with("stderr_bytes", exit.stderrBytes()));
    }

    @Override
    public void left() {
        end(head.with("cause", Exit.Cause.CANCELLED.label()));
    }

    private void end(EventData data) {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            tellLocked();
            log.accept("command.completed", data);
        } finally {
            lock.unlock();
        }
        over.run();
    }

    @GuardedBy("lock")
    private void tellLocked() {
        var data = head;
        boolean isNew = folded > 0;
        for (var stream : ExecEvent.Stream.values()) {
            Words said = words.get(stream);
            String name = stream == ExecEvent.Stream.STDOUT ? "stdout" : "stderr";
            if (said != null && !said.isEmpty()) {
                String text = said.take();
                told += text.length();
                data = data.with(name, text);
                isNew = true;
            }
            if (said != null && counted && said.end > 0) {
                data = data.with(name + END, said.end);
            }
        }
        if (isNew) {
            log.accept("command.output", folded > 0 ? data.with("folded_bytes", folded) : data);
            folded = 0;
            toldAt = ticker.nanos();
        }
    }

    /// Text of one stream that no event contains yet.
    private static final class Words {
        private final Utf8Decoder decoder = new Utf8Decoder();
        private final StringBuilder text = new StringBuilder();

        /// How many bytes there were so far.
        private long end;

        /// What comes before this was told already.
        private final long known;

        Words(long from, long known) {
            this.end = from;
            this.known = known;
        }

        /// Takes as much as there is room for. Returns how many bytes were left out.
        long add(byte[] all, int most) {
            int old = (int) Math.clamp(known - end, 0, all.length);
            end += all.length;
            int room = Math.max(0, most - text.length());
            int taken = Math.min(all.length - old, room);
            int left = all.length - old - taken;
            text.append(decoder.decode(all, old, taken));
            if (left > 0) {
                decoder.end();
            }
            return left;
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
