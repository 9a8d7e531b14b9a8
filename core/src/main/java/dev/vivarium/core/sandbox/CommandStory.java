package dev.vivarium.core.sandbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.exec.Audience;
import dev.vivarium.model.EventData;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;

/// What one command writes, on its way into the log. The first words go at once; what comes soon after is collected and
/// told in one event. Of a flood only the beginning of each event is kept, and how much was left out is said.
/// Thread-safe.
final class CommandStory implements Audience {
    /// Of each stream, in one event.
    private static final int MOST_AT_ONCE = 8 * 1024;

    /// Of a whole command; afterwards only the amount is told.
    private static final int MOST_IN_ALL = 1024 * 1024;

    private static final long PAUSE = 100_000_000;

    private final int pid;
    private final BiConsumer<String, EventData> log;
    private final Runnable over;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private final Map<ExecEvent.Stream, Words> words = new EnumMap<>(ExecEvent.Stream.class);

    @GuardedBy("lock")
    private int told;

    @GuardedBy("lock")
    private long folded;

    @GuardedBy("lock")
    private long toldAt;

    @GuardedBy("lock")
    private boolean ended;

    /// @param log takes the type and the data of an event
    /// @param over is called when there is nothing more to tell
    CommandStory(int pid, BiConsumer<String, EventData> log, Runnable over) {
        this.pid = pid;
        this.log = log;
        this.over = over;
        this.toldAt = System.nanoTime() - PAUSE;
    }

    @Override
    public void output(ExecEvent.Stream stream, byte[] bytes) {
        lock.lock();
        try {
            int room = Math.min(MOST_AT_ONCE, MOST_IN_ALL - told);
            folded += words.computeIfAbsent(stream, s -> new Words()).add(bytes, room);
            if (System.nanoTime() - toldAt >= PAUSE) {
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
            if (System.nanoTime() - toldAt >= PAUSE) {
                tellLocked();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void exited(Exit exit) {
        end(EventData.of("pid", pid)
                .with("exit_code", exit.exitCode())
                .with("cause", exit.cause().label())
                .with("duration_ms", exit.wall().toMillis())
                .with("stdout_bytes", exit.stdoutBytes())
                .with("stderr_bytes", exit.stderrBytes()));
    }

    @Override
    public void left() {
        end(EventData.of("pid", pid).with("cause", Exit.Cause.CANCELLED.label()));
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
        var data = EventData.of("pid", pid);
        boolean isNew = folded > 0;
        for (var stream : ExecEvent.Stream.values()) {
            Words said = words.get(stream);
            if (said != null && !said.isEmpty()) {
                String text = said.take();
                told += text.length();
                data = data.with(stream == ExecEvent.Stream.STDOUT ? "stdout" : "stderr", text);
                isNew = true;
            }
        }
        if (isNew) {
            log.accept("command.output", folded > 0 ? data.with("folded_bytes", folded) : data);
            folded = 0;
            toldAt = System.nanoTime();
        }
    }

    /// Text of one stream that has not been told yet. A character whose bytes come in two pieces is not torn.
    private static final class Words {
        private final CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPLACE)
                .onUnmappableCharacter(CodingErrorAction.REPLACE);
        private final StringBuilder text = new StringBuilder();
        private byte[] rest = new byte[0];

        /// Takes as much as there is room for. Returns how many bytes were left out.
        long add(byte[] bytes, int most) {
            int room = Math.max(0, most - text.length());
            int taken = Math.min(bytes.length, room);
            var in = ByteBuffer.allocate(rest.length + taken)
                    .put(rest)
                    .put(bytes, 0, taken)
                    .flip();
            var out = CharBuffer.allocate(in.remaining() + 1);
            decoder.decode(in, out, false);
            text.append(out.flip());
            rest = taken < bytes.length ? new byte[0] : remaining(in);
            return bytes.length - taken;
        }

        private static byte[] remaining(ByteBuffer in) {
            var bytes = new byte[in.remaining()];
            in.get(bytes);
            return bytes;
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
