package dev.vivarium.core.shell;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.exec.CommandListener;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ShellId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Terminal that several users share. Thread-safe.
///
/// The shell lives in the guest. It outlasts its viewers, lost connections and server restarts, until its process exits
/// or its sandbox ends.
///
/// # Design note
///
/// One worker thread reads the terminal into a [Scrollback]; each viewer has only a position in it. A viewer therefore
/// needs no queue. A slow viewer misses overwritten output and receives the number of missed bytes. The worker waits
/// for the *fastest* typist without limit, as on any slow terminal, and for other viewers up to one second. On a busy
/// machine every active reader thus receives all output, and a viewer that does not read slows nothing down. Without
/// viewers the worker does not wait.
///
/// Positions count from the first byte of the terminal, on the server and in the guest. When the connection to the
/// guest breaks, the guest replays its buffer and reports the position of its first byte. The worker skips known bytes.
/// Lost bytes become a gap of known length.
public final class Shell {
    /// Maximum lag of a viewer before the worker waits for it.
    private static final int WINDOW = Scrollback.CAPACITY / 2;

    private final ShellId id;
    private final Origin origin;

    /// Maximum wait for viewers that are slower than the fastest.
    private final Duration timeout;

    final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Condition room = lock.newCondition();

    @GuardedBy("lock")
    private final Scrollback scrollback = new Scrollback(0);

    @GuardedBy("lock")
    private final List<Viewer> viewers = new ArrayList<>();

    /// Viewers that have kept up so far.
    @GuardedBy("lock")
    private final List<Viewer> followers = new ArrayList<>();

    @GuardedBy("lock")
    private int participantChanges;

    @GuardedBy("lock")
    private TerminalSize size;

    @GuardedBy("lock")
    private @Nullable ShellEvent last;

    private final TerminalAttachment attachment;
    private final CommandListener commandListener;

    /// Listener to the output, in addition to the viewers. Confined to the worker thread.
    private OutputListener outputListener = OutputListener.NONE;

    /// Command and start time of a shell. The command is unknown if an earlier server opened the shell.
    record Origin(Optional<String> command, Instant started) {}

    Shell(
            ShellId id,
            Origin origin,
            Guest guest,
            TerminalSize size,
            CommandListener commandListener,
            Duration timeout) {
        this.id = id;
        this.origin = origin;
        this.timeout = timeout;
        this.attachment = new TerminalAttachment(guest);
        this.size = size;
        this.commandListener = commandListener;
    }

    public ShellId id() {
        return id;
    }

    /// Returns the command, if this server started it.
    public Optional<String> command() {
        return origin.command();
    }

    public Instant started() {
        return origin.started();
    }

    public TerminalSize size() {
        lock.lock();
        try {
            return size;
        } finally {
            lock.unlock();
        }
    }

    public List<Participant> people() {
        lock.lock();
        try {
            return participantsLocked();
        } finally {
            lock.unlock();
        }
    }

    public Optional<Exit> exit() {
        return last().flatMap(
                        event -> event instanceof ShellEvent.Exited(Exit exit) ? Optional.of(exit) : Optional.empty());
    }

    public boolean isOpen() {
        return last().isEmpty();
    }

    private Optional<ShellEvent> last() {
        lock.lock();
        try {
            return lastLocked();
        } finally {
            lock.unlock();
        }
    }

    /// Adds a viewer. It receives the recent output, then new output. The caller must close the result.
    public Viewer join(Participant who) {
        lock.lock();
        try {
            var viewer = new Viewer(this, who, scrollback);
            viewers.add(viewer);
            participantChanges++;
            changed.signalAll();
            return viewer;
        } finally {
            lock.unlock();
        }
    }

    /// Sends a signal to the process and all its descendants.
    public void signal(Signal signal) {
        attachment.current().signal(signal.number(), SignalTarget.TREE);
    }

    /// Kills the process and all its descendants.
    public void kill() {
        attachment.current().close();
    }

    /// Starts reading from `opened`.
    void begin(Execution opened) {
        attachment.at(opened);
        start(() -> followFirst(opened));
    }

    /// Takes over a shell of an earlier server.
    void begin(SurvivingProcess survivor) {
        start(() -> followFirst(attachment.takeOver(survivor)));
    }

    private void followFirst(Execution opened) {
        outputListener = commandListener.announce(commandStarted(opened));
        follow(opened);
    }

    /// Returns the start event: a start if the command is known, otherwise a recovery.
    private CommandStarted commandStarted(Execution opened) {
        var place = new CommandStarted.Position(opened.firstByte(), 0);
        return origin.command()
                .map(line -> CommandStarted.kept(ProcessInfo.Kind.SHELL, opened.pid(), line, id.value()))
                .orElseGet(() -> CommandStarted.found(ProcessInfo.Kind.SHELL, opened.pid(), id.value(), place));
    }

    private void start(Runnable first) {
        Thread.ofVirtual().name("shell-" + id).start(() -> run(first));
    }

    private void run(Runnable first) {
        Runnable next = first;
        while (next != null) {
            try {
                next.run();
                return;
            } catch (SandboxException e) {
                next = afterLoss(e.failure());
            } catch (RuntimeException e) {
                finish(new ShellEvent.Gone(new Failure.Internal(id.value())));
                throw e;
            }
        }
    }

    /// Reads until the process exits.
    private void follow(Execution opened) {
        long position = opened.firstByte();
        while (true) {
            awaitRoom();
            switch (opened.next()) {
                case ExecEvent.Started _ -> {}
                case ExecEvent.Output(var _, byte[] bytes) -> {
                    shown(position, bytes);
                    position += bytes.length;
                }
                case ExecEvent.Exited(Exit exit) -> {
                    finish(new ShellEvent.Exited(exit));
                    return;
                }
            }
        }
    }

    /// Handles the loss of the guest. Returns the continuation on the next guest, or null if the shell ended.
    private @Nullable Runnable afterLoss(Failure failure) {
        Optional<SurvivingProcess> next =
                failure instanceof Failure.GuestUnreachable ? attachment.awaitNext() : Optional.empty();
        if (next.isPresent()) {
            return () -> follow(attachment.takeOver(next.get()));
        }
        finish(new ShellEvent.Gone(failure));
        return null;
    }

    /// Switches to another guest, where the process either survived or ended.
    void reattached(Guest next, Optional<SurvivingProcess> survivor) {
        attachment.reattached(next, survivor);
    }

    /// Waits for viewers: for the fastest typist without limit, for others up to the timeout. A viewer that times
    /// out is not awaited again until it catches up. A watcher alone must not block the process.
    private void awaitRoom() {
        lock.lock();
        try {
            long left = timeout.toNanos();
            while (areTypistsLostLocked() || left > 0 && isAnyAwaitedLocked()) {
                if (left > 0) {
                    left = room.awaitNanos(left);
                } else {
                    room.await();
                }
            }
            noteFollowersLocked();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void noteFollowersLocked() {
        followers.clear();
        for (Viewer viewer : viewers) {
            if (!isFarBehindLocked(viewer.position())) {
                followers.add(viewer);
            }
        }
    }

    @GuardedBy("lock")
    private boolean isAnyAwaitedLocked() {
        for (Viewer viewer : followers) {
            if (isFarBehindLocked(viewer.position())) {
                return true;
            }
        }
        return false;
    }

    @GuardedBy("lock")
    private boolean isFarBehindLocked(long position) {
        return scrollback.end() - position > WINDOW;
    }

    /// Reports whether there are typists and all of them lag by more than the window.
    @GuardedBy("lock")
    private boolean areTypistsLostLocked() {
        long fastest = -1;
        for (Viewer viewer : viewers) {
            fastest = Math.max(fastest, viewer.who().role() == Participant.Role.TYPIST ? viewer.position() : -1);
        }
        return fastest >= 0 && isFarBehindLocked(fastest);
    }

    /// Handles output of the terminal; `position` is the position of its first byte.
    private void shown(long position, byte[] bytes) {
        int known;
        lock.lock();
        try {
            if (position > scrollback.end()) {
                scrollback.skipTo(position);
            }
            known = (int) Math.min(bytes.length, scrollback.end() - position);
            scrollback.append(bytes, known, bytes.length - known);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        // Last, because viewers have priority.
        outputListener.output(
                ExecEvent.Stream.STDOUT, known == 0 ? bytes : Arrays.copyOfRange(bytes, known, bytes.length));
    }

    private void finish(ShellEvent event) {
        event.reportTo(outputListener);
        attachment.end(event instanceof ShellEvent.Gone(Failure failure) ? failure : Shells.noSuchShell(id));
        lock.lock();
        try {
            last = event;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Writes input. If the connection breaks before the write completes, writes the same bytes again on the next
    /// connection.
    void type(byte[] bytes, int offset, int length) {
        Execution now = attachment.current();
        try {
            now.write(bytes, offset, length);
        } catch (SandboxException e) {
            if (!(e.failure() instanceof Failure.GuestUnreachable)) {
                throw e;
            }
            attachment.leave(now);
            attachment.current().write(bytes, offset, length);
        }
    }

    /// The terminal takes the size of the typist.
    void resize(TerminalSize wanted) {
        if (takeSize(wanted)) {
            attachment.current().resize(wanted.columns(), wanted.rows());
        }
    }

    /// Returns whether the terminal must be resized.
    private boolean takeSize(TerminalSize wanted) {
        lock.lock();
        try {
            boolean other = !size.equals(wanted) && last == null;
            size = wanted;
            changed.signalAll();
            return other;
        } finally {
            lock.unlock();
        }
    }

    void leave(Viewer viewer) {
        lock.lock();
        try {
            followers.remove(viewer);
            if (viewers.remove(viewer)) {
                participantChanges++;
                changed.signalAll();
                room.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    List<Participant> participantsLocked() {
        return viewers.stream().map(Viewer::who).toList();
    }

    @GuardedBy("lock")
    int participantChangesLocked() {
        return participantChanges;
    }

    @GuardedBy("lock")
    Scrollback scrollbackLocked() {
        return scrollback;
    }

    @GuardedBy("lock")
    Optional<ShellEvent> lastLocked() {
        return Optional.ofNullable(last);
    }

    /// Waits for a change. Call it in a loop.
    @GuardedBy("lock")
    void awaitChangeLocked() {
        changed.awaitUninterruptibly();
    }

    /// Signals that a viewer has advanced.
    @GuardedBy("lock")
    void takenLocked() {
        room.signal();
    }
}
