package dev.vivarium.core.provider.oci;

import dev.vivarium.core.provider.FileOperation;
import dev.vivarium.core.provider.GuestListener;
import dev.vivarium.core.provider.GuestSocket;
import dev.vivarium.core.provider.GuestStream;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.OrphanWatcher;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Machine of the launcher or of an OCI runtime. Thread-safe.
final class OciMachine implements Machine, AutoCloseable {
    private static final Duration FIRST_CONNECTION = Duration.ofSeconds(60);

    private final RunDirectory directory;
    private final Cgroup cgroup;
    private final GuestSocket guestSocket;

    /// First connection of the guest, until [#connect] returns it.
    private final AtomicReference<@Nullable SocketChannel> first = new AtomicReference<>();

    OciMachine(RunDirectory directory, Cgroup cgroup) {
        this.directory = directory;
        this.cgroup = cgroup;
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
    /// does not wait for it.
    void awaitGuest(CompletableFuture<String> answer) {
        var unused = answer.thenAccept(words -> {
            if (!words.isEmpty()) {
                guestSocket.close();
            }
        });
        try {
            first.set(guestSocket.admit(FIRST_CONNECTION, () -> !answer.isDone() || isAlive()));
        } catch (SandboxException e) {
            var words = answer.getNow("");
            throw words.isEmpty()
                    ? e
                    : new SandboxException(new Failure.ProviderFailed("start a machine", "launch: " + words), e);
        }
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
        cgroup.limit(limits);
        try {
            directory.showMemory(limits.memoryBytes());
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("show the new limit", String.valueOf(e)), e);
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
