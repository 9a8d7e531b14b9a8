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
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.Status;
import dev.vivarium.model.ThreadId;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// One thread's sandbox. Thread-safe.
///
/// Everything one does with it goes through its guest, which only a running sandbox has: in any other state the call
/// fails with `SandboxNotRunning`, and with `SandboxEnded` and the cause once it has ended. A call that comes while the
/// server is looking for the sandbox after a restart, or while a broken stream is made anew, waits a little.
public final class Sandbox {
    /// How long a call waits for a sandbox that is being found again.
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Engine engine;
    private final SandboxRow row;
    private final SandboxRow.Owner owner;
    private final Lease lease;
    private final Lifecycle lifecycle;
    private final Pausing pausing;
    private final GuestTraffic guestTraffic;
    private final OomWatch ooms;
    private final DisconnectCounter losses;
    private final WriteLock turns = new WriteLock();
    private final Processes processes;
    private final Shells shells;
    private final SandboxEgress sandboxEgress;
    private final ControlPort controlPort;
    private final Environment environment;
    private final CountDownLatch gone = new CountDownLatch(1);
    private volatile String secret;

    /// `row` must have an owner.
    Sandbox(Engine engine, GuestConnections streams, SandboxRow row, State first) {
        this.engine = engine;
        this.row = row;
        this.secret = row.secret();
        this.owner = row.owner().orElseThrow();
        this.lease = new Lease(engine.timeSource, row.idleTimeout(), row.lastActivity(), row.endsAt());
        this.lifecycle =
                new Lifecycle(first, step -> engine.listeners.call(listener -> listener.moved(row.id(), step)));
        this.pausing = new Pausing(this, engine.provider, engine.rows, engine.space, engine.listeners, streams);
        this.guestTraffic =
                new GuestTraffic(this, engine.tasks, engine.config.room().commands());
        this.ooms = new OomWatch(engine.timeSource);
        this.losses = new DisconnectCounter(engine.timeSource);
        this.processes = new Processes(row.id(), engine.timeSource.clock(), this::announce);
        this.shells = new Shells(engine.timeSource.random(), engine.timeSource.clock(), this::announce);
        this.sandboxEgress = streams.egressOf(this);
        this.controlPort = streams.controlPortOf(this);
        this.environment = new Environment(sandboxEgress, row.env());
    }

    public SandboxId id() {
        return row.id();
    }

    /// Whose it is, how it is, and when and why it will end or has ended. Never waits.
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
                lease.expiresAt(),
                lease.endsAt(),
                state.findEnd(),
                state.findReason());
    }

    /// Starts a command with the sandbox's own environment under the command's. Close the result.
    public Execution exec(Command command) {
        var execution = Execution.start(guest(), environment.plain(command, workspace()));
        return execution.heardBy(announce(CommandStarted.of(command, execution.pid())));
    }

    private OutputListener announce(CommandStarted commandStarted) {
        return engine.listeners.outputListener(id(), commandStarted);
    }

    /// Starts a command that nobody waits for, under a [name][Processes#newName()] by which the next server finds
    /// it.
    public ManagedProcess detach(String name, Command command, ManagedProcess.Origin origin) {
        return processes.detach(guest(), name, environment.plain(command, workspace()), origin);
    }

    /// What was started in it and is still known. Never waits; looking is no use.
    public Processes processes() {
        return processes;
    }

    /// Starts `command` on a terminal that several people can share and that outlives this server.
    public Shell shell(Command command, TerminalSize size) {
        return shells.open(guest(), environment.onTerminal(command, workspace()), size);
    }

    /// The terminals that people share.
    public Shells shells() {
        return shells;
    }

    /// Its files, for as long as the present stream to its guest lasts; ask again for each use.
    public Workspace files() {
        return new Workspace(guest(), turns);
    }

    /// Its files for whoever only looks: does not extend the lease.
    public Workspace look() {
        engine.tasks.refuseWhileDraining();
        return new Workspace(running().guest().unnoticed(), turns);
    }

    /// Its way out, and what it may reach by it. To change that: [Sandboxes#allow].
    public SandboxEgress sandboxEgress() {
        return sandboxEgress;
    }

    /// Opens its way to the server, for good, and says where that is as programs inside see it. To serve those who
    /// come that way: [Sandboxes#reception].
    public URI openDoor() {
        return controlPort.open(guest(), port -> engine.rows.controlPort(id(), port));
    }

    ControlPort controlPort() {
        return controlPort;
    }

    /// Connects to a port that something inside listens on. Close the result.
    public Connection dial(int port) {
        return Connection.dial(guest(), port);
    }

    /// Where commands find their files, as they see it.
    public String workspace() {
        return running().machine().workspace();
    }

    /// What it uses, as its guest sees it. Looking does not extend the lease.
    public GuestStats stats() {
        return running().guest().stats();
    }

    /// What it uses, by the kernel's account. Looking does not extend the lease.
    public Machine.Usage usage() {
        return machine().usage();
    }

    /// A heartbeat: extends the lease and does nothing else.
    public void touch() {
        requireNotEnded();
        lease.touch();
    }

    void requireNotEnded() {
        lifecycle.state().findEnd().ifPresent(end -> {
            throw new SandboxException(new Failure.SandboxEnded(id(), end));
        });
    }

    /// Freezes every process; commands that run stand still with their streams open. Legal when running or paused.
    public void pause(PauseReason why) {
        settled();
        pausing.pause(why);
    }

    /// Thaws every process. Legal when paused or running. Fails with `NoDiskSpace` when the sandbox was frozen for
    /// want of disk space and there still is none, or nobody asked for it.
    public void resume(PauseReason why) {
        settled();
        pausing.resume(why);
    }

    /// The guest, for a use: it extends the lease.
    private Guest guest() {
        engine.tasks.refuseWhileDraining();
        State.Running running = running();
        lease.touch();
        return running.guest();
    }

    private State.Running running() {
        return switch (settled()) {
            case State.Running running -> running;
            case State.Creating _ -> throw notRunning(Status.CREATING);
            case State.Paused paused -> throw pausing.refusal(paused);
            case State.Recovering _ ->
                throw new SandboxException(new Failure.GuestUnreachable(id(), "it is still being brought back"));
            case State.Terminated(var end) -> throw new SandboxException(new Failure.SandboxEnded(id(), end));
            case State.Failed(var end) -> throw new SandboxException(new Failure.SandboxEnded(id(), end));
        };
    }

    private Machine machine() {
        State state = settled();
        return state.findMachine().orElseGet(() -> running().machine());
    }

    /// The state once it is not being found again, and a stream that has just broken has been noticed.
    private State settled() {
        engine.tasks.refuseWhileDraining();
        return awaitDiagnosis(PATIENCE);
    }

    /// Waits while the server looks for it after a restart, or makes a broken stream anew.
    public void awaitFound() {
        if (!engine.tasks.isDraining()) {
            awaitDiagnosis(PATIENCE);
        }
    }

    State awaitDiagnosis(Duration patience) {
        return lifecycle.await(
                state -> switch (state) {
                    case State.Recovering _ -> false;
                    case State.Running running -> running.guest().isOpen();
                    case State.Creating _, State.Paused _, State.Terminated _, State.Failed _ -> true;
                },
                patience);
    }

    /// Why a step failed that somebody else made impossible, or overtook.
    SandboxException overtaken() {
        requireNotEnded();
        return notRunning(lifecycle.state().status());
    }

    private SandboxException notRunning(Status status) {
        return new SandboxException(new Failure.SandboxNotRunning(id(), status));
    }

    /// Explains a kill by the kernel's count; a command's own end is passed through this already.
    public Exit explain(Exit exit) {
        return guestTraffic.explain(exit);
    }

    boolean diedForWantOfMemory() {
        return lifecycle.state().findMachine().map(ooms::explains).orElse(false);
    }

    boolean diedForWantOfMemory(Machine machine) {
        return ooms.explains(machine);
    }

    ThreadId thread() {
        return owner.thread();
    }

    SandboxRow.Owner owner() {
        return owner;
    }

    SandboxRow row() {
        return row;
    }

    /// What its present guest proves itself with.
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

    DisconnectCounter losses() {
        return losses;
    }

    GuestTraffic guestTraffic() {
        return guestTraffic;
    }

    /// Its machine was removed, or its removal is the reconciler's now.
    void markGone() {
        gone.countDown();
    }

    /// Waits until an end that somebody else began has removed the machine.
    void awaitGone() {
        try {
            if (!gone.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new SandboxException(new Failure.ProviderFailed(
                        "removing " + id(), "it takes longer than " + PATIENCE.toSeconds() + " s"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
