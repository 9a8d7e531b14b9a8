package dev.vivarium.core.shell;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// One participant's place in a shell. Thread-safe, meant for one reader; others may type, resize and close meanwhile.
///
/// It holds no output of its own, only a position in what the shell remembers.
public final class Viewer implements AutoCloseable {
    /// The most bytes of one event.
    private static final int PORTION = 32 * 1024;

    /// The most bytes that are typed in one go.
    private static final int TYPED = 64 * 1024;

    /// How far a beginning in the middle is put off, so that it is the beginning of a line.
    private static final int LINE = 4 * 1024;

    private final Shell shell;
    private final Participant who;

    @GuardedBy("shell.lock")
    private final Utf8Decoder characters = new Utf8Decoder();

    /// What was shown before this viewer came ends here.
    private final long arrival;

    private volatile long position;

    @GuardedBy("shell.lock")
    private int arrivalsSeen;

    @GuardedBy("shell.lock")
    private TerminalSize sizeSeen;

    @GuardedBy("shell.lock")
    private boolean ended;

    private volatile Optional<TerminalSize> screen = Optional.empty();

    /// To be made under the shell's lock.
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

    /// Waits for what happens next. After the last event it returns [ShellEvent.Left] for ever.
    public ShellEvent next() {
        shell.lock.lock();
        try {
            while (true) {
                Optional<ShellEvent> event = pollLocked();
                if (event.isPresent()) {
                    return event.get();
                }
                shell.awaitNewsLocked();
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
        if (arrivalsSeen != shell.arrivalsLocked()) {
            arrivalsSeen = shell.arrivalsLocked();
            return Optional.of(new ShellEvent.Presence(shell.peopleLocked()));
        }
        if (!sizeSeen.equals(shell.size())) {
            sizeSeen = shell.size();
            return Optional.of(new ShellEvent.Resized(sizeSeen));
        }
        Scrollback scrollback = shell.scrollbackLocked();
        if (position < scrollback.first()) {
            long missed = scrollback.first() - position;
            position = scrollback.first();
            characters.cut();
            return Optional.of(new ShellEvent.Missed(missed));
        }
        if (position < scrollback.end()) {
            return outputLocked(scrollback);
        }
        return shell.lastLocked().map(this::lastLocked);
    }

    /// Nothing when it was only the beginning of a character.
    @GuardedBy("shell.lock")
    private Optional<ShellEvent> outputLocked(Scrollback scrollback) {
        boolean isOld = position < arrival;
        byte[] bytes = scrollback.read(position, isOld ? (int) Math.min(PORTION, arrival - position) : PORTION);
        position += bytes.length;
        shell.takenLocked();
        String decoded = characters.decode(bytes);
        String text = isOld ? TerminalQueryFilter.without(decoded) : decoded;
        return text.isEmpty() ? pollLocked() : Optional.of(new ShellEvent.Output(text));
    }

    @GuardedBy("shell.lock")
    private ShellEvent lastLocked(ShellEvent last) {
        String half = characters.cut();
        if (!half.isEmpty()) {
            return new ShellEvent.Output(half);
        }
        ended = true;
        return last;
    }

    /// Types. Fails with `NotAllowed` for whoever only watches. Waits while the process does not read.
    public void type(String text) {
        requireTypist();
        screen.ifPresent(shell::resize);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (int at = 0; at < bytes.length; at += TYPED) {
            shell.type(bytes, at, Math.min(TYPED, bytes.length - at));
        }
    }

    /// Says how large the viewer's screen is. The terminal has the size of the one who typed last, or came to type.
    public void resize(TerminalSize size) {
        screen = Optional.of(size);
        if (who.role() == Participant.Role.TYPIST) {
            shell.resize(size);
        }
    }

    /// Sends a signal to the process and all that it has started. Fails with `NotAllowed` for whoever only
    /// watches.
    public void signal(Signal signal) {
        requireTypist();
        shell.signal(signal);
    }

    /// Leaves; the shell goes on. Idempotent.
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

    /// Fails with `NotAllowed` for whoever only watches.
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
        // No line ends here; then at least no character is cut.
        int i = 0;
        while (i < bytes.length && i < 3 && (bytes[i] & 0xC0) == 0x80) {
            i++;
        }
        return scrollback.first() + i;
    }
}
