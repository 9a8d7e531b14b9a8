package dev.vivarium.core.provider.oci;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.provider.GuestListener;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A machine under an OCI runtime. Thread-safe.
final class OciMachine implements Machine, AutoCloseable {
    private final RunDirectory directory;
    private final Cgroup cgroup;

    private final Object lock = new Object();

    /// Listens from before the start until the first guest has come, and again for each further one.
    @GuardedBy("lock")
    private @Nullable GuestListener listener;

    OciMachine(RunDirectory directory, Cgroup cgroup) {
        this.directory = directory;
        this.cgroup = cgroup;
    }

    /// Begins to listen for the guest; [#connect] does so by itself when need be.
    void listen() {
        takeListener();
    }

    @Override
    public SandboxId id() {
        return directory.id();
    }

    @Override
    public SocketChannel connect(Duration patience) {
        var current = takeListener();
        try {
            return current.accept(patience, this::isAlive);
        } finally {
            synchronized (lock) {
                if (listener == current) {
                    listener = null;
                }
            }
        }
    }

    private GuestListener takeListener() {
        synchronized (lock) {
            if (listener == null) {
                var slot = directory.slot().orElseThrow(() -> ended(directory.id()));
                listener = GuestListener.bind(id(), directory.socket(), UidSlots.base((int) slot));
            }
            return listener;
        }
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
            Bundle.showMemory(directory.meminfo(), limits.memoryBytes());
        } catch (IOException e) {
            throw new SandboxException(new Failure.ProviderFailed("show the new limit", String.valueOf(e)), e);
        }
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
        return Bundle.WORKSPACE;
    }

    /// Stops listening; the machine itself goes on.
    @Override
    public void close() {
        GuestListener open;
        synchronized (lock) {
            open = listener;
            listener = null;
        }
        if (open != null) {
            open.close();
        }
    }
}
