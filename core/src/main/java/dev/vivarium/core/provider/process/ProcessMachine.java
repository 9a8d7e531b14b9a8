package dev.vivarium.core.provider.process;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.provider.GuestListener;
import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.Patience;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A guest that runs as a plain process. Thread-safe.
final class ProcessMachine implements Machine, AutoCloseable {
    private static final Duration PAUSE_PATIENCE = Duration.ofSeconds(5);

    private final SandboxId id;
    private final Path socket;
    private final ProcessTree tree;
    private final BooleanSupplier alive;
    private final int user;

    private final Object lock = new Object();

    @GuardedBy("lock")
    private @Nullable GuestListener listener;

    ProcessMachine(SandboxId id, Path socket, int user, ProcessTree tree, BooleanSupplier alive) {
        this.id = id;
        this.socket = socket;
        this.user = user;
        this.tree = tree;
        this.alive = alive;
    }

    void listen() {
        takeListener();
    }

    @Override
    public SandboxId id() {
        return id;
    }

    @Override
    public SocketChannel connect(Duration patience) {
        var current = takeListener();
        try {
            return current.accept(patience, alive);
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
                listener = GuestListener.bind(id, socket, user);
            }
            return listener;
        }
    }

    @Override
    public void pause() {
        tree.forEach(Signals::stop);
        if (!Patience.until(PAUSE_PATIENCE, () -> tree.all().stream().allMatch(HostProcess::isStopped))) {
            throw new SandboxException(new Failure.ProviderFailed("pause", "the processes did not stop in time"));
        }
    }

    @Override
    public void resume() {
        tree.all().forEach(Signals::carryOn);
    }

    /// There is nothing to enforce a limit with; the provider's capabilities say so.
    @Override
    public void limit(Limits limits) {}

    @Override
    public Usage usage() {
        return tree.usage();
    }

    @Override
    public boolean isAlive() {
        return alive.getAsBoolean();
    }

    @Override
    public String workspace() {
        return tree.workspace().toString();
    }

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
