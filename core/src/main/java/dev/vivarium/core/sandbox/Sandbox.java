package dev.vivarium.core.sandbox;

import dev.vivarium.core.egress.SandboxEgress;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.ManagedProcess;
import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.core.exec.Processes;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.files.WriteLock;
import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.GuestStats;
import dev.vivarium.core.inside.ControlPort;
import dev.vivarium.core.preview.Connection;
import dev.vivarium.core.provider.Machine;
import dev.vivarium.core.shell.Shell;
import dev.vivarium.core.shell.Shells;
import dev.vivarium.core.shell.TerminalSize;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.model.Command;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Sandbox of one thread. Thread-safe.
///
/// Calls go through the guest, which only a running sandbox has. A call starts a hibernated sandbox again. In any other
/// state, a call fails with `SandboxNotRunning`, or with `SandboxEnded` and the cause after the end. During a recovery
/// or a reconnect, a call waits for the result, with a timeout.
public final class Sandbox {
    /// Maximum wait of a call for the recovery of the sandbox.
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Engine engine;
    private final SandboxRow row;
    private final ThreadKey owner;
    private final Lease lease;
    private final Lifecycle lifecycle;
    private final Pausing pausing;
    private final Hibernation hibernation;
    private final GuestTraffic guestTraffic;
    private final OomWatch ooms;
    private final DisconnectCounter disconnects;
    private final ProcessActivity processActivity = new ProcessActivity();
    private final FileCount fileCount = new FileCount();
    private final WriteLock writeLock = new WriteLock();
    private final Processes processes;
    private final Shells shells;
    private final SandboxEgress sandboxEgress;
    private final ControlPort controlPort;
    private final Environment environment;
    private final CountDownLatch gone = new CountDownLatch(1);
    private volatile String secret;

    /// `row` must have an owner.
    Sandbox(Engine engine, GuestConnections connections, Hibernation hibernation, SandboxRow row, State first) {
        this.engine = engine;
        this.row = row;
        this.secret = row.secret();
        this.owner = row.owner().orElseThrow();
        this.lease = new Lease(engine.timeSource, row.idleTimeout(), row.lastActivity(), row.endsAt());
        this.lifecycle =
                new Lifecycle(first, step -> engine.listeners.call(listener -> listener.moved(row.id(), step)));
        this.pausing = new Pausing(this, engine.provider, engine.rows, engine.space, engine.listeners, connections);
        this.hibernation = hibernation;
        this.guestTraffic =
                new GuestTraffic(this, engine.tasks, engine.config.room().commands());
        this.ooms = new OomWatch(engine.timeSource);
        this.disconnects = new DisconnectCounter(engine.timeSource);
        this.processes = new Processes(row.id(), engine.timeSource.clock(), this::announce);
        this.shells = new Shells(engine.timeSource.random(), engine.timeSource.clock(), this::announce);
        this.sandboxEgress = connections.egressOf(this);
        this.controlPort = connections.controlPortOf(this);
        this.environment = new Environment(sandboxEgress, row.env(), owner.thread());
    }

    public SandboxId id() {
        return row.id();
    }

    /// Owner, state, and time and cause of the end. Never blocks.
    public SandboxInfo info() {
        State state = lifecycle.state();
        return new SandboxInfo(
                row.id(),
                owner.thread(),
                owner.user(),
                state.status(),
                row.limits(),
                row.createdAt(),
                lease.lastActivity(),
                state instanceof State.Hibernated ? lease.endsAt() : lease.expiresAt(),
                lease.endsAt(),
                row.onIdle(),
                state.findEnd(),
                state.findReason());
    }

    /// Returns the first option of the request that this sandbox does not have, if any.
    public Optional<String> findDifference(NewSandbox wanted) {
        var egress = wanted.egress().filter(other -> !other.equals(sandboxEgress.allowed()));
        return egress.map(_ -> "egress").or(() -> row.findDifference(wanted));
    }

    /// Starts a command. Its environment includes that of the sandbox. Close the result.
    public Execution exec(Command command) {
        var execution = Execution.start(guest(), environment.plain(command, workspace()));
        return execution.withListener(announce(CommandStarted.of(command, execution.pid())));
    }

    /// Starts a command of the server itself, without events. Close the result.
    public Execution execInternal(Command command) {
        return Execution.start(guest(), environment.plain(command, workspace()));
    }

    private OutputListener announce(CommandStarted commandStarted) {
        return engine.listeners.outputListener(id(), commandStarted);
    }

    /// Starts a detached command under a [name][Processes#newName()] by which the next server finds it.
    public ManagedProcess detach(String name, Command command, ManagedProcess.Origin origin) {
        return processes.detach(guest(), name, environment.plain(command, workspace()), origin);
    }

    /// Shortens the idle timeout permanently. The timeout starts now.
    public void limitIdle(Duration limit) {
        engine.rows.idleLimit(id(), limit);
        lease.touch();
        lease.limitIdle(limit);
    }

    /// Known processes of the sandbox. Never blocks, and does not extend the lease.
    public Processes processes() {
        return processes;
    }

    /// Starts `command` on a terminal that several people can share and that outlives this server.
    public Shell shell(Command command, TerminalSize size) {
        return shells.open(guest(), environment.onTerminal(command, workspace()), size);
    }

    /// Shared terminals of the sandbox.
    public Shells shells() {
        return shells;
    }

    /// Files of the sandbox through the current connection to the guest. Call this for each use.
    public Workspace files() {
        return new Workspace(guest(), writeLock);
    }

    /// Files of the sandbox for a reader that does not count as use. Does not extend the lease.
    public Workspace passiveFiles() {
        engine.tasks.refuseWhileDraining();
        return new Workspace(running().guest().withoutObserver(), writeLock);
    }

    /// Number of files in the workspace. If the sandbox does not run, the number at the time when it stopped; empty
    /// if that is unknown. Does not extend the lease.
    public Optional<Long> countFiles() {
        return stateAfterRecovery() instanceof State.Running
                ? Optional.of(fileCount.count(passiveFiles()))
                : fileCount.last();
    }

    FileCount fileCount() {
        return fileCount;
    }

    /// Egress of the sandbox and its rules. To change the rules, call [Sandboxes#allow].
    public SandboxEgress sandboxEgress() {
        return sandboxEgress;
    }

    /// Opens the control port permanently, and returns its address inside the sandbox. To handle its connections,
    /// see [Sandboxes#controlPorts].
    public URI openControlPort() {
        return controlPort.open(guest(), port -> engine.rows.controlPort(id(), port));
    }

    ControlPort controlPort() {
        return controlPort;
    }

    /// Connects to a listening port inside. Close the result. Does not start a hibernated sandbox, because no
    /// process listens in it.
    public Connection dial(int port) {
        return Connection.dial(presentGuest(), port);
    }

    /// Path of the workspace inside the sandbox.
    public String workspace() {
        return running().machine().workspace();
    }

    /// Resource usage, measured by the guest. Does not extend the lease.
    public GuestStats stats() {
        return running().guest().stats();
    }

    /// Resource usage, measured by the kernel. Does not extend the lease.
    public Machine.Usage usage() {
        return machine().usage();
    }

    /// Extends the lease, and starts a hibernated sandbox again.
    public void touch() {
        requireNotEnded();
        wake();
        lease.touch();
    }

    /// Starts a hibernated sandbox again on its disk, once for any number of calls. Fails with `AtCapacity` or
    /// `NoDiskSpace` if the server has no place for it; the disk stays. Does nothing in another state.
    public void wake() {
        if (stateAfterRecovery() instanceof State.Hibernated) {
            hibernation.wake(this);
        }
    }

    /// Starts a use by a connected client that no request to the guest represents. Close the result at its end.
    public SandboxUse use() {
        requireNotEnded();
        return new SandboxUse(lease);
    }

    void requireNotEnded() {
        lifecycle.state().findEnd().ifPresent(end -> {
            throw new SandboxException(new Failure.SandboxEnded(id(), end));
        });
    }

    /// Freezes every process. The streams of running commands stay open. Legal in the states running and paused.
    public void pause(PauseReason why) {
        stateAfterRecovery();
        pausing.pause(why);
    }

    /// Resumes every process, or starts a hibernated sandbox again. Legal in the states paused, hibernated and
    /// running. If the sandbox was frozen because of low disk space, it fails with `NoDiskSpace` while space is
    /// low, or if no person requested the resume.
    public void resume(PauseReason why) {
        wake();
        pausing.resume(why);
    }

    /// The guest, for a call that extends the lease and starts a hibernated sandbox.
    private Guest guest() {
        engine.tasks.refuseWhileDraining();
        wake();
        return presentGuest();
    }

    private Guest presentGuest() {
        engine.tasks.refuseWhileDraining();
        State.Running running = running();
        lease.touch();
        return running.guest();
    }

    private State.Running running() {
        return switch (stateAfterRecovery()) {
            case State.Running running -> running;
            case State.Creating _ -> throw notRunning(Status.CREATING);
            case State.Paused paused -> throw pausing.refusal(paused);
            case State.Hibernated _ -> throw notRunning(Status.HIBERNATED);
            case State.Recovering _ ->
                throw new SandboxException(new Failure.GuestUnreachable(id(), "it is still being brought back"));
            case State.Terminated(var end) -> throw new SandboxException(new Failure.SandboxEnded(id(), end));
            case State.Failed(var end) -> throw new SandboxException(new Failure.SandboxEnded(id(), end));
        };
    }

    private Machine machine() {
        State state = stateAfterRecovery();
        return state.findMachine().orElseGet(() -> running().machine());
    }

    /// State after a recovery in progress, and after a broken stream was detected.
    private State stateAfterRecovery() {
        engine.tasks.refuseWhileDraining();
        return awaitDiagnosis(TIMEOUT);
    }

    /// Waits for a recovery or reconnect in progress.
    public void awaitFound() {
        if (!engine.tasks.isDraining()) {
            awaitDiagnosis(TIMEOUT);
        }
    }

    State awaitDiagnosis(Duration timeout) {
        return lifecycle.await(
                state -> switch (state) {
                    case State.Recovering _ -> false;
                    case State.Running running -> running.guest().isOpen();
                    case State.Creating _, State.Paused _, State.Hibernated _, State.Terminated _, State.Failed _ ->
                        true;
                },
                timeout);
    }

    /// Failure of a transition that another transition prevented or superseded.
    SandboxException superseded() {
        requireNotEnded();
        return notRunning(lifecycle.state().status());
    }

    private SandboxException notRunning(Status status) {
        return new SandboxException(new Failure.SandboxNotRunning(id(), status));
    }

    /// Corrects the exit of a killed command with the OOM counter of the kernel. The exit of a command is already
    /// corrected.
    public Exit correctCause(Exit exit) {
        return guestTraffic.correctCause(exit);
    }

    /// Number of OOM kills in the machine.
    long oomKills() {
        return lifecycle.state().findMachine().map(OomWatch::count).orElse(0L);
    }

    boolean wasOomKilled() {
        return lifecycle.state().findMachine().map(ooms::hasKilled).orElse(false);
    }

    boolean wasOomKilled(Machine machine) {
        return ooms.hasKilled(machine);
    }

    ThreadId thread() {
        return owner.thread();
    }

    ThreadKey owner() {
        return owner;
    }

    SandboxRow row() {
        return row;
    }

    /// Secret of the current guest.
    String secret() {
        return secret;
    }

    void secret(String other) {
        secret = other;
    }

    Lease lease() {
        return lease;
    }

    Lifecycle lifecycle() {
        return lifecycle;
    }

    DisconnectCounter disconnects() {
        return disconnects;
    }

    ProcessActivity processActivity() {
        return processActivity;
    }

    GuestTraffic guestTraffic() {
        return guestTraffic;
    }

    /// Marks the machine as removed, or its removal as left to the reconciler.
    void markGone() {
        gone.countDown();
    }

    /// Waits until another thread that ends the sandbox has removed the machine.
    void awaitGone() {
        try {
            if (!gone.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new SandboxException(new Failure.ProviderFailed(
                        "removing " + id(), "it takes longer than " + TIMEOUT.toSeconds() + " s"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
