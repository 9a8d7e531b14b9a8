package dev.vivarium.core.provider.oci;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.provider.FileOperation;
import dev.vivarium.core.provider.GuestListener;
import dev.vivarium.core.provider.GuestSocket;
import dev.vivarium.core.provider.GuestStream;
import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.OrphanWatcher;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Machine of the launcher or of an OCI runtime. Thread-safe.
final class OciMachine implements Machine, AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);

    private final RunDirectory directory;
    private final Cgroup cgroup;
    private final GuestSocket guestSocket;
    private final OomCounter oomCounter;

    /// First connection of the guest, until [#connect] returns it.
    private final AtomicReference<@Nullable SocketChannel> first = new AtomicReference<>();

    private final Object cpuLock = new Object();

    /// Null for a machine of an earlier server until [#limit].
    @GuardedBy("cpuLock")
    private @Nullable Limits limits;

    @GuardedBy("cpuLock")
    private CpuFairness.Level level = CpuFairness.Level.NORMAL;

    OciMachine(RunDirectory directory, Cgroup cgroup, @Nullable Limits limits) {
        this.directory = directory;
        this.cgroup = cgroup;
        this.limits = limits;
        this.oomCounter = new OomCounter(cgroup.oomEvents());
        this.guestSocket = new GuestSocket(this::bind);
    }

    /// Starts to listen for the guest; [#connect] also does so if needed.
    void listen() {
        guestSocket.open();
    }

    @Override
    public SandboxId id() {
        return directory.id();
    }

    /// Waits for the first connection of the guest, which [#connect] then returns. If the launcher reports an error
    /// first, throws with its text. The launcher replies no sooner than the guest connects, so a successful start
    /// does not wait for it. A launcher that does not reply in time is stalled, and is replaced.
    void awaitGuest(ResidentLauncher.Start start) {
        var answer = start.answer();
        var unused = answer.thenAccept(words -> {
            if (!words.isEmpty()) {
                guestSocket.close();
            }
        });
        long began = System.nanoTime();
        try {
            first.set(guestSocket.admit(START_TIMEOUT, () -> !answer.isDone() || isAlive()));
        } catch (SandboxException e) {
            boolean isLate = System.nanoTime() - began >= START_TIMEOUT.toNanos();
            if (isLate && !answer.isDone()) {
                start.abandon().run();
            }
            throw failure(isLate, answer.getNow(""), e);
        }
    }

    private static SandboxException failure(boolean isLate, String words, SandboxException cause) {
        if (isLate) {
            return new SandboxException(new Failure.StartTimedOut(START_TIMEOUT), cause);
        }
        return words.isEmpty()
                ? cause
                : new SandboxException(new Failure.ProviderFailed("start a machine", "launch: " + words), cause);
    }

    @Override
    public GuestStream connect(Duration timeout) {
        var waiting = first.getAndSet(null);
        return new GuestStream.Socket(waiting != null ? waiting : guestSocket.admit(timeout, this::isAlive));
    }

    private GuestListener bind() {
        var slot = directory.slot().orElseThrow(() -> ended(directory.id()));
        return GuestListener.bind(id(), directory.socket(), UidSlots.base((int) slot));
    }

    private static SandboxException ended(SandboxId id) {
        return new SandboxException(new Failure.GuestUnreachable(id, "its machine was removed"));
    }

    @Override
    public void pause() {
        cgroup.freeze();
    }

    @Override
    public void resume() {
        cgroup.thaw();
    }

    @Override
    public void limit(Limits limits) {
        synchronized (cpuLock) {
            this.limits = limits;
            cgroup.limit(limits, level);
        }
        try {
            directory.writeMemInfo(limits.memoryBytes());
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("show the new limit", String.valueOf(e)), e);
        }
    }

    Cgroup cgroup() {
        return cgroup;
    }

    /// Sets the part of the processors that the machine has within its limits.
    void level(CpuFairness.Level next) {
        synchronized (cpuLock) {
            level = next;
            if (limits != null) {
                cgroup.limit(limits, next);
            }
        }
    }

    @Override
    public void orphanGrace(Duration grace) {
        FileOperation.SET_GRACE.run(() -> OrphanWatcher.writeGrace(directory.path(), grace));
    }

    @Override
    public Usage usage() {
        return cgroup.usage();
    }

    @Override
    public long oomKills() {
        return oomCounter.read();
    }

    @Override
    public long storageBytes() {
        return cgroup.processes().stream().mapToLong(HostProcess::storageBytes).sum();
    }

    @Override
    public boolean isAlive() {
        return directory.isAlive();
    }

    @Override
    public String workspace() {
        return Layout.WORKSPACE;
    }

    /// Stops listening; the machine continues.
    @Override
    public void close() {
        guestSocket.close();
        oomCounter.close();
        var unwanted = first.getAndSet(null);
        if (unwanted != null) {
            close(unwanted);
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // The channel is closed in any case.
        }
    }
}
