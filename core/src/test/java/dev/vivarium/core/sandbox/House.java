package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecResult;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/// A whole engine on real processes in one directory: the store, the provider with faults on demand, and sandboxes.
/// Leaves nothing behind.
final class House implements AutoCloseable {
    static final UserId ANN = new UserId("ann");

    final Path home;
    final TravellingTime time = new TravellingTime();
    final Recorder recorder = new Recorder();
    Db db;
    FaultyProvider provider;
    Sandboxes sandboxes;

    private House(Path home) {
        this.home = home;
    }

    static House at(Path home, SandboxesConfig config) {
        return new House(home).open(config);
    }

    static House at(Path home, SandboxesConfig config, Consumer<FaultyProvider> before) {
        return new House(home).open(config, before);
    }

    /// No pool, room for 20, half an hour of idleness, a day of life, a look for leftovers every 30 s.
    static SandboxesConfig plain() {
        return SandboxesConfig.standard().with(new SandboxesConfig.Room(0, 20, 8));
    }

    House open(SandboxesConfig config) {
        return open(config, untouched -> {});
    }

    /// Starts a server; `before` is done to the provider while nobody uses it yet.
    House open(SandboxesConfig config, Consumer<FaultyProvider> before) {
        db = Db.sqlite(home.resolve("viv.db"));
        provider = new FaultyProvider(ProcessProvider.open(home, GuestPrograms.extractTo(home)));
        before.accept(provider);
        sandboxes = Sandboxes.open(
                provider, db, config.with(HomeDisk.standard(home)), List.of(recorder), time.timeSource());
        return this;
    }

    /// Stops the server in good order; machines go on.
    void stop() {
        sandboxes.drain();
        provider.close();
        db.close();
    }

    Sandbox sandbox(String thread) {
        return sandboxes.open(NewSandbox.of(ANN, new ThreadId(thread))).sandbox();
    }

    static ExecResult run(Sandbox sandbox, String script) {
        try (var execution = sandbox.exec(Command.shell(script))) {
            return execution.collect();
        }
    }

    static String output(Sandbox sandbox, String script) {
        ExecResult result = run(sandbox, script);
        assertThat(result.exitCode()).as(result.stderr()).isZero();
        return result.stdout().strip();
    }

    /// Ends the guest of a sandbox as a crash would.
    void killGuest(SandboxId id) {
        ProcessHandle guest = guest(id);
        guest.destroyForcibly();
        guest.onExit().join();
    }

    ProcessHandle guest(SandboxId id) {
        try {
            long pid = Long.parseLong(Files.readString(home.resolve("run/" + id + "/pid")));
            return ProcessHandle.of(pid).orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path workspace(SandboxId id) {
        return home.resolve("disks").resolve(id.value()).resolve("workspace");
    }

    /// Whoever finds a sandbox again may be heard of after it can be used.
    void awaitRecovery(SandboxListener.Recovery how) {
        await().until(() -> !recorder.recoveries.isEmpty());
        assertThat(recorder.recoveries).containsExactly(how);
    }

    /// Waits until the first look for leftovers is over: it would find those that a test is about to leave.
    void awaitFirstPass() {
        await().until(() -> sandboxes.reconciliation().passes() > 0);
    }

    List<SandboxRow> rowsAlive() {
        return new SandboxRows(db).alive();
    }

    static <T extends Failure> T failure(Class<T> type, ThrowingCallable call) {
        var thrown = catchThrowableOfType(SandboxException.class, call);
        assertThat(thrown).as("a failure").isNotNull();
        assertThat(thrown.failure()).isInstanceOf(type);
        return type.cast(thrown.failure());
    }

    void assertNothingRemains() {
        assertThat(provider.survivors()).isEmpty();
        assertThat(rowsAlive()).isEmpty();
        assertThat(sandboxes.list()).isEmpty();
        assertThat(sandboxes.pool().active()).isZero();
    }

    @Override
    public void close() {
        stop();
        time.close();
        try (var inner = ProcessProvider.open(home, GuestPrograms.extractTo(home))) {
            inner.survivors().forEach(id -> inner.remove(id, Disk.ERASE));
        }
    }
}
