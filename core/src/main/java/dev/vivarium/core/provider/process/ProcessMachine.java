package dev.vivarium.core.provider.process;

import dev.vivarium.core.provider.FileOperation;
import dev.vivarium.core.provider.GuestListener;
import dev.vivarium.core.provider.GuestSocket;
import dev.vivarium.core.provider.GuestStream;
import dev.vivarium.core.provider.HostProcess;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.provider.OrphanWatcher;
import dev.vivarium.core.provider.Polling;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/// Machine whose guest is a plain process. Thread-safe.
final class ProcessMachine implements Machine, AutoCloseable {
    private static final Duration PAUSE_TIMEOUT = Duration.ofSeconds(15);

    private final SandboxId id;
    private final Path directory;
    private final ProcessTree tree;
    private final BooleanSupplier alive;
    private final GuestSocket guestSocket;

    ProcessMachine(SandboxId id, Path directory, int user, ProcessTree tree, BooleanSupplier alive) {
        this.id = id;
        this.directory = directory;
        this.tree = tree;
        this.alive = alive;
        this.guestSocket = new GuestSocket(() -> GuestListener.bind(id, socket(directory), user));
    }

    /// Path of the socket for the guest of a machine with this directory.
    static Path socket(Path directory) {
        return directory.resolve("wire").resolve("s");
    }

    void listen() {
        guestSocket.open();
    }

    @Override
    public SandboxId id() {
        return id;
    }

    @Override
    public GuestStream connect(Duration timeout) {
        return new GuestStream.Socket(guestSocket.admit(timeout, alive));
    }

    @Override
    public void pause() {
        tree.forEach(Signals::stop);
        if (!Polling.until(PAUSE_TIMEOUT, () -> tree.all().stream().allMatch(HostProcess::isStopped))) {
            throw new SandboxException(new Failure.ProviderFailed("pause", "the processes did not stop in time"));
        }
    }

    @Override
    public void resume() {
        tree.all().forEach(Signals::cont);
    }

    /// Does nothing, because this provider cannot enforce limits; its capabilities state that.
    @Override
    public void limit(Limits limits) {}

    @Override
    public void orphanGrace(Duration grace) {
        FileOperation.SET_GRACE.run(() -> OrphanWatcher.writeGrace(directory, grace));
    }

    @Override
    public Usage usage() {
        return tree.usage();
    }

    @Override
    public long storageBytes() {
        return tree.all().stream().mapToLong(HostProcess::storageBytes).sum();
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
        guestSocket.close();
    }
}
