package dev.vivarium.core.shell;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.exec.CommandListener;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
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

/// A terminal that several people are in at once. It lives in the guest: viewers come and go, streams break and servers
/// restart, and it is the same shell until its process exits or its sandbox ends. Thread-safe.
///
/// # Design note
///
/// One worker reads the terminal into a [Scrollback]; each viewer has only a position in it. So a viewer costs no
/// queue, and one that is slow misses what was overwritten and is told how much. The worker waits for the *fastest*
/// viewer as long as it takes, as on any slow terminal, and for the others a second at most: on a busy machine all who
/// read see everything, and one who does not read slows nobody down. Without viewers it runs on.
///
/// Positions count from the terminal's first byte, on both sides of the wire. When the stream to the guest breaks, the
/// guest replays what it remembers and says where that begins; what is known is skipped, and what nobody has any more
/// is a gap of known length.
public final class Shell {
    /// How far a viewer may fall behind before the process waits for it.
    private static final int WINDOW = Scrollback.CAPACITY / 2;

    private final ShellId id;
    private final Origin origin;

    /// How long the process waits for those who are slower than the fastest.
    private final Duration patience;

    final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private final Condition room = lock.newCondition();

    @GuardedBy("lock")
    private final Scrollback scrollback = new Scrollback(0);

    @GuardedBy("lock")
    private final List<Viewer> viewers = new ArrayList<>();

    /// Those of the viewers that have kept up so far.
    @GuardedBy("lock")
    private final List<Viewer> followers = new ArrayList<>();

    /// Counts changes of who is here.
    @GuardedBy("lock")
    private int incomingConnections;

    @GuardedBy("lock")
    private TerminalSize size;

    @GuardedBy("lock")
    private @Nullable ShellEvent last;

    private final TerminalAttachment attachment;
    private final CommandListener commandListener;

    /// Who hears what it shows, beside the viewers. Confined to its worker.
    private OutputListener outputListener = OutputListener.NOBODY;

    /// Where a shell comes from. One that an earlier server opened does not know its command any more.
    record Origin(Optional<String> command, Instant started) {}

    Shell(
            ShellId id,
            Origin origin,
            Guest guest,
            TerminalSize size,
            CommandListener commandListener,
            Duration patience) {
        this.id = id;
        this.origin = origin;
        this.patience = patience;
        this.attachment = new TerminalAttachment(guest);
        this.size = size;
        this.commandListener = commandListener;
    }

    public ShellId id() {
        return id;
    }

    /// What it runs, if this server started it.
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

    /// Who is in it.
    public List<Participant> people() {
        lock.lock();
        try {
            return peopleLocked();
        } finally {
            lock.unlock();
        }
    }

    /// How its process ended, if it has.
    public Optional<Exit> exit() {
        return last().flatMap(
                        event -> event instanceof ShellEvent.Exited(Exit exit) ? Optional.of(exit) : Optional.empty());
    }

    /// Reports whether it can still be used.
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

    /// Lets somebody in: they see what was shown recently, then what comes. Close the result.
    public Viewer join(Participant who) {
        lock.lock();
        try {
            var viewer = new Viewer(this, who, scrollback);
            viewers.add(viewer);
            incomingConnections++;
            news.signalAll();
            return viewer;
        } finally {
            lock.unlock();
        }
    }

    /// Sends a signal to its process and all that this has started.
    public void signal(Signal signal) {
        attachment.current().signal(signal.number(), SignalTarget.TREE);
    }

    /// Ends it: its process is killed with all that this has started.
    public void kill() {
        attachment.current().close();
    }

    /// Runs on `opened` from here on.
    void begin(Terminal opened) {
        attachment.at(opened);
        start(() -> followFirst(opened));
    }

    /// Takes over what an earlier server has left.
    void begin(SurvivingProcess survivor) {
        start(() -> followFirst(attachment.takeOver(survivor)));
    }

    private void followFirst(Terminal opened) {
        outputListener = commandListener.announce(opened.commandStarted(id.value(), origin.command()));
        follow(opened);
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

    /// Reads until the process has ended.
    private void follow(Terminal opened) {
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

    /// What to do when the guest is lost: the same shell on the next guest, or nothing.
    private @Nullable Runnable afterLoss(Failure failure) {
        Optional<SurvivingProcess> next =
                failure instanceof Failure.GuestUnreachable ? attachment.awaitNext() : Optional.empty();
        if (next.isPresent()) {
            return () -> follow(attachment.takeOver(next.get()));
        }
        finish(new ShellEvent.Gone(failure));
        return null;
    }

    /// There is another guest, where it either goes on or is no more.
    void moved(Guest next, Optional<SurvivingProcess> survivor) {
        attachment.moved(next, survivor);
    }

    /// Waits for those who are there: for the fastest who types as long as it takes, for the others a moment, and
    /// then not again before they have caught up. Whoever only looks must not hold what they look at.
    private void awaitRoom() {
        lock.lock();
        try {
            long left = patience.toNanos();
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

    /// Reports whether there are people who type, and all of them are far behind.
    @GuardedBy("lock")
    private boolean areTypistsLostLocked() {
        long fastest = -1;
        for (Viewer viewer : viewers) {
            fastest = Math.max(fastest, viewer.who().role() == Participant.Role.TYPIST ? viewer.position() : -1);
        }
        return fastest >= 0 && isFarBehindLocked(fastest);
    }

    /// The terminal showed `bytes`, the first of them at `position`.
    private void shown(long position, byte[] bytes) {
        int known;
        lock.lock();
        try {
            if (position > scrollback.end()) {
                scrollback.skipTo(position);
            }
            known = (int) Math.min(bytes.length, scrollback.end() - position);
            scrollback.append(bytes, known, bytes.length - known);
            news.signalAll();
        } finally {
            lock.unlock();
        }
        // Last: those who watch come first.
        outputListener.output(
                ExecEvent.Stream.STDOUT, known == 0 ? bytes : Arrays.copyOfRange(bytes, known, bytes.length));
    }

    private void finish(ShellEvent event) {
        event.tell(outputListener);
        attachment.end(event instanceof ShellEvent.Gone(Failure failure) ? failure : Shells.noSuchShell(id));
        lock.lock();
        try {
            last = event;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Types one portion. If the stream breaks before it has gone out whole, it is typed again on the next one.
    void type(byte[] bytes, int offset, int length) {
        Terminal now = attachment.current();
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

    /// Whoever types decides how large the terminal is.
    void resize(TerminalSize wanted) {
        if (takeSize(wanted)) {
            attachment.current().resize(wanted.columns(), wanted.rows());
        }
    }

    /// Reports whether there is a terminal that has to be told.
    private boolean takeSize(TerminalSize wanted) {
        lock.lock();
        try {
            boolean other = !size.equals(wanted) && last == null;
            size = wanted;
            news.signalAll();
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
                incomingConnections++;
                news.signalAll();
                room.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    List<Participant> peopleLocked() {
        return viewers.stream().map(Viewer::who).toList();
    }

    @GuardedBy("lock")
    int arrivalsLocked() {
        return incomingConnections;
    }

    @GuardedBy("lock")
    Scrollback scrollbackLocked() {
        return scrollback;
    }

    @GuardedBy("lock")
    Optional<ShellEvent> lastLocked() {
        return Optional.ofNullable(last);
    }

    /// Waits for something to happen; to be called in a loop.
    @GuardedBy("lock")
    void awaitNewsLocked() {
        news.awaitUninterruptibly();
    }

    /// A viewer has gone ahead.
    @GuardedBy("lock")
    void takenLocked() {
        room.signal();
    }
}
