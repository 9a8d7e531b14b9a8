package dev.vivarium.core.exec;

import dev.vivarium.core.guest.Guest;
import dev.vivarium.core.guest.ProcessHandover;
import dev.vivarium.core.guest.Service;
import dev.vivarium.core.guest.SurvivingProcess;
import dev.vivarium.model.Command;
import dev.vivarium.model.Failure;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;

/// Processes of one sandbox that a server started. Thread-safe.
///
/// The server that started an attached process tracks it. A detached process outlives the server, and the next server
/// takes it over under its id.
///
/// A thread of its own reads each detached process, so that the process never waits for a reader. Its last output is
/// kept until enough other processes have ended after it. The guest keeps the process too. A server restart loses only
/// the command line and the name of the starter.
public final class Processes {
    /// Maximum number of running detached processes, and of ended processes that are kept.
    public static final int MAX_DETACHED = 64;

    private static final Pattern ID = Pattern.compile("p[0-9a-f]{16}");
    private static final ManagedProcess.Origin UNKNOWN =
            new ManagedProcess.Origin("(started before the server was)", "", ProcessInfo.Kind.DETACHED);

    private final SandboxId sandbox;
    private final InstantSource clock;
    private final CommandListener commandListener;
    private final Map<String, ManagedProcess> known = new ConcurrentHashMap<>();
    private final Semaphore slots = new Semaphore(MAX_DETACHED);
    private final ProcessHandover handover = new ProcessHandover();

    public Processes(SandboxId sandbox, InstantSource clock, CommandListener commandListener) {
        this.sandbox = sandbox;
        this.clock = clock;
        this.commandListener = commandListener;
    }

    /// Lists an execution until the result is closed. Its starter keeps reading the output.
    public ManagedProcess track(Execution execution, ManagedProcess.Origin origin) {
        return register(newName(), execution, origin, Optional.empty());
    }

    /// Starts a detached command under a name from [#newName], and keeps the last of its output. Fails with
    /// `TooManyCommands`.
    public ManagedProcess detach(Guest guest, String id, Command command, ManagedProcess.Origin origin) {
        if (!slots.tryAcquire()) {
            throw new SandboxException(new Failure.TooManyCommands(sandbox, MAX_DETACHED));
        }
        try {
            var tail = new OutputRing();
            Execution execution = Execution.startKept(guest, command, id);
            var commandStarted = CommandStarted.kept(origin.kind(), execution.pid(), origin.command(), id);
            execution.withListener(commandListener.announce(commandStarted));
            ManagedProcess process = register(id, execution, origin, Optional.of(tail));
            Thread.ofVirtual().name("detached-" + id).start(() -> run(process, tail, slots::release));
            return process;
        } catch (RuntimeException e) {
            slots.release();
            throw e;
        }
    }

    public static boolean isDetached(SurvivingProcess survivor) {
        return survivor.service() == Service.EXEC
                && survivor.name().filter(name -> ID.matcher(name).matches()).isPresent();
    }

    /// Announces [#reattachTo]. Until it completes, lookups wait.
    public void expectReattach() {
        handover.expect();
    }

    /// Finds the detached processes again on another guest, with the output that it kept.
    public void reattachTo(Guest guest) {
        List<SurvivingProcess> kept =
                guest.survivors().stream().filter(Processes::isDetached).toList();
        var handedOver = new CountDownLatch(kept.size());
        for (SurvivingProcess survivor : kept) {
            String id = survivor.name().orElseThrow();
            Thread.ofVirtual().name("detached-" + id).start(() -> adopt(guest, survivor, id, handedOver::countDown));
        }
        ProcessHandover.await(handedOver);
        handover.done();
    }

    private void adopt(Guest guest, SurvivingProcess survivor, String id, Runnable handedOver) {
        Execution execution;
        ManagedProcess process;
        OutputRing tail;
        try {
            execution = Execution.attach(guest, survivor);
            tail = new OutputRing(execution.missed());
            var origin = Optional.ofNullable(known.get(id))
                    .map(ManagedProcess::origin)
                    .orElse(UNKNOWN);
            process = new ManagedProcess(
                    id, execution, origin, survivor.started(), Optional.of(tail), () -> known.remove(id));
            known.put(id, process);
        } catch (SandboxException e) {
            return; // The guest was lost again, and will report the process after the reconnect.
        } finally {
            handedOver.run();
        }
        var place = new CommandStarted.Position(execution.firstByte(), execution.missed() - execution.firstByte());
        execution.withListener(
                commandListener.announce(CommandStarted.found(ProcessInfo.Kind.DETACHED, execution.pid(), id, place)));
        boolean counted = slots.tryAcquire();
        run(process, tail, counted ? slots::release : () -> {});
    }

    private void run(ManagedProcess process, OutputRing tail, Runnable afterwards) {
        try {
            process.pump(tail);
        } finally {
            afterwards.run();
            forgetOldest();
        }
    }

    /// Returns a name that no process has.
    public static String newName() {
        return "p" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    private ManagedProcess register(
            String id, Execution execution, ManagedProcess.Origin origin, Optional<OutputRing> tail) {
        var process = new ManagedProcess(id, execution, origin, clock.instant(), tail, () -> known.remove(id));
        known.put(id, process);
        return process;
    }

    private void forgetOldest() {
        List<ProcessInfo> ended = list().stream()
                .filter(info -> info.state() != ProcessInfo.State.RUNNING)
                .toList();
        for (int i = 0; i < ended.size() - MAX_DETACHED; i++) {
            known.remove(ended.get(i).id());
        }
    }

    /// Returns all processes in the order of their start.
    public List<ProcessInfo> list() {
        handover.await();
        return known.values().stream()
                .map(ManagedProcess::info)
                .sorted(Comparator.comparing(ProcessInfo::startedAt).thenComparing(ProcessInfo::id))
                .toList();
    }

    /// Returns the process with this id. Fails with `NoSuchProcess`.
    public ManagedProcess require(String id) {
        handover.await();
        return Optional.ofNullable(known.get(id))
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchProcess(id)));
    }
}
