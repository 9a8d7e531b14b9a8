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
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/// Complete engine on real processes in one directory: the store, a provider that fails on demand, and sandboxes.
/// Removes everything on close.
final class TestEngine implements AutoCloseable {
    static final UserId ANN = new UserId("ann");

    /// Returns the thread of [#ANN] with this name.
    static ThreadKey thread(String name) {
        return new ThreadKey(ANN, new ThreadId(name));
    }

    final Path home;
    final AdjustableTime time = new AdjustableTime();
    final Recorder recorder = new Recorder();
    Db db;
    FaultyProvider provider;
    Sandboxes sandboxes;

    private TestEngine(Path home) {
        this.home = home;
    }

    static TestEngine at(Path home, SandboxesConfig config) {
        return new TestEngine(home).open(config);
    }

    static TestEngine at(Path home, SandboxesConfig config, Consumer<FaultyProvider> before) {
        return new TestEngine(home).open(config, before);
    }

    /// No pool, at most 20 sandboxes, idle timeout of half an hour, lifetime of a day, reconciliation every 30 s.
    static SandboxesConfig plain() {
        return SandboxesConfig.standard().with(new SandboxesConfig.CapacityLimits(0, 20, 8));
    }

    TestEngine open(SandboxesConfig config) {
        return open(config, untouched -> {});
    }

    /// Starts a server. `before` configures the provider before its first use.
    TestEngine open(SandboxesConfig config, Consumer<FaultyProvider> before) {
        db = Db.sqlite(home.resolve("viv.db"));
        provider = new FaultyProvider(ProcessProvider.open(home, GuestPrograms.extractTo(home)));
        before.accept(provider);
        sandboxes = Sandboxes.open(
                provider, db, config.with(HomeDisk.standard(home)), List.of(recorder), time.timeSource());
        return this;
    }

    /// Stops the server gracefully. Machines keep running.
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

    /// Kills the guest of a sandbox, as a crash would.
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

    /// Waits for a recovery. Its notification may arrive after the sandbox can be used.
    void awaitRecovery(SandboxListener.Recovery how) {
        await().until(() -> !recorder.recoveries.isEmpty());
        assertThat(recorder.recoveries).containsExactly(how);
    }

    /// Waits for the first reconciliation, which would otherwise remove the leftovers that a test creates.
    void awaitFirstPass() {
        await().until(() -> sandboxes.reconciliation().passes() > 0);
    }

    List<SandboxRow> rowsAlive() {
        return new SandboxRows(db).alive();
    }

    static <T extends Failure> T failure(Class<T> type, ThrowingCallable call) {
        var thrown = catchThrowableOfType(SandboxException.class, call);
        assertThat(thrown).as("SandboxException").isNotNull();
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
