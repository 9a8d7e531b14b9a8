package dev.vivarium.core.shell;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.Utf8Decoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// One participant's view of a shell. Thread-safe, with a single reader: other threads may type, resize and close.
///
/// A viewer holds no output, only a position in the scrollback.
public final class Viewer implements AutoCloseable {
    /// Maximum number of bytes in one event.
    private static final int PORTION = 32 * 1024;

    /// Maximum number of bytes in one write.
    private static final int TYPED = 64 * 1024;

    /// Search limit for a line end. A replay that starts in the middle begins at the next line.
    private static final int LINE = 4 * 1024;

    private final Shell shell;
    private final Participant who;

    @GuardedBy("shell.lock")
    private final Utf8Decoder decoder = new Utf8Decoder();

    /// Position at which the viewer joined. Output before it is replayed.
    private final long arrival;

    private volatile long position;

    @GuardedBy("shell.lock")
    private int participantChangesSeen;

    @GuardedBy("shell.lock")
    private TerminalSize sizeSeen;

    @GuardedBy("shell.lock")
    private boolean ended;

    private volatile Optional<TerminalSize> screen = Optional.empty();

    /// Call it with the lock of the shell held.
    Viewer(Shell shell, Participant who, Scrollback scrollback) {
        this.shell = shell;
        this.who = who;
        this.arrival = scrollback.end();
        this.sizeSeen = shell.size();
        this.position = scrollback.first() == 0 ? 0 : lineAfter(scrollback);
    }

    public Participant who() {
        return who;
    }

    public Shell shell() {
        return shell;
    }

    long position() {
        return position;
    }

    /// Waits for the next event. After the last event it always returns [ShellEvent.Left].
    public ShellEvent next() {
        shell.lock.lock();
        try {
            while (true) {
                Optional<ShellEvent> event = pollLocked();
                if (event.isPresent()) {
                    return event.get();
                }
                shell.awaitChangeLocked();
            }
        } finally {
            shell.lock.unlock();
        }
    }

    @GuardedBy("shell.lock")
    private Optional<ShellEvent> pollLocked() {
        if (ended) {
            return Optional.of(new ShellEvent.Left());
        }
        if (participantChangesSeen != shell.participantChangesLocked()) {
            participantChangesSeen = shell.participantChangesLocked();
            return Optional.of(new ShellEvent.Presence(shell.participantsLocked()));
        }
        if (!sizeSeen.equals(shell.size())) {
            sizeSeen = shell.size();
            return Optional.of(new ShellEvent.Resized(sizeSeen));
        }
        Scrollback scrollback = shell.scrollbackLocked();
        if (position < scrollback.first()) {
            long missed = scrollback.first() - position;
            position = scrollback.first();
            decoder.end();
            return Optional.of(new ShellEvent.Missed(missed));
        }
        if (position < scrollback.end()) {
            return outputLocked(scrollback);
        }
        return shell.lastLocked().map(this::lastLocked);
    }

    /// Returns nothing if the bytes only begin a character.
    @GuardedBy("shell.lock")
    private Optional<ShellEvent> outputLocked(Scrollback scrollback) {
        boolean isOld = position < arrival;
        byte[] bytes = scrollback.read(position, isOld ? (int) Math.min(PORTION, arrival - position) : PORTION);
        position += bytes.length;
        shell.takenLocked();
        String decoded = decoder.decode(bytes);
        String text = isOld ? TerminalQueryFilter.without(decoded) : decoded;
        return text.isEmpty() ? pollLocked() : Optional.of(new ShellEvent.Output(text));
    }

    @GuardedBy("shell.lock")
    private ShellEvent lastLocked(ShellEvent last) {
        String half = decoder.end();
        if (!half.isEmpty()) {
            return new ShellEvent.Output(half);
        }
        ended = true;
        return last;
    }

    /// Sends input. Fails with `NotAllowed` for a watcher. Blocks while the process does not read.
    public void type(String text) {
        requireTypist();
        screen.ifPresent(shell::resize);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (int at = 0; at < bytes.length; at += TYPED) {
            shell.type(bytes, at, Math.min(TYPED, bytes.length - at));
        }
    }

    /// Sets the screen size of the viewer. The terminal has the size of the typist who last typed or resized.
    public void resize(TerminalSize size) {
        screen = Optional.of(size);
        if (who.role() == Participant.Role.TYPIST) {
            shell.resize(size);
        }
    }

    /// Sends a signal to the process and all its descendants. Fails with `NotAllowed` for a watcher.
    public void signal(Signal signal) {
        requireTypist();
        shell.signal(signal);
    }

    /// Leaves the shell, which continues to run. Idempotent.
    @Override
    public void close() {
        shell.lock.lock();
        try {
            ended = true;
        } finally {
            shell.lock.unlock();
        }
        shell.leave(this);
    }

    /// Fails with `NotAllowed` for a watcher.
    public void requireTypist() {
        if (who.role() != Participant.Role.TYPIST) {
            throw new SandboxException(new Failure.NotAllowed("you may only watch this shell, not type in it"));
        }
    }

    private static long lineAfter(Scrollback scrollback) {
        byte[] bytes = scrollback.read(scrollback.first(), LINE);
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                return scrollback.first() + i + 1;
            }
        }
        // Without a line end, start at a character boundary.
        int i = 0;
        while (i < bytes.length && i < 3 && (bytes[i] & 0xC0) == 0x80) {
            i++;
        }
        return scrollback.first() + i;
    }
}
