package dev.vivarium.core.exec;

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
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/// The processes of one sandbox that were started through this server. It knows them for as long as the server runs:
/// after a restart they go on unseen. Thread-safe.
///
/// A detached process is read by a worker of its own, so that it never waits for a reader; what it wrote last is kept
/// until it is forgotten, at the latest when so many others have ended after it.
public final class Processes {
    /// How many may run detached at once, and how many that have ended are remembered.
    public static final int MAX_DETACHED = 64;

    private final SandboxId sandbox;
    private final InstantSource clock;
    private final Map<String, Tracked> known = new ConcurrentHashMap<>();
    private final Semaphore slots = new Semaphore(MAX_DETACHED);

    public Processes(SandboxId sandbox, InstantSource clock) {
        this.sandbox = sandbox;
        this.clock = clock;
    }

    /// Shows an execution to others until the result is closed. Its output stays its starter's.
    public Tracked track(Execution execution, Tracked.Origin origin) {
        return register(execution, origin, Optional.empty());
    }

    /// Starts an execution that nobody waits for, and keeps the last of its output. Fails with `TooManyCommands`.
    public Tracked detach(Supplier<Execution> start, Tracked.Origin origin) {
        if (!slots.tryAcquire()) {
            throw new SandboxException(new Failure.TooManyCommands(sandbox, MAX_DETACHED));
        }
        try {
            var tail = new Tail();
            Tracked process = register(start.get(), origin, Optional.of(tail));
            Thread.ofVirtual().name("detached-" + process.id()).start(() -> run(process, tail));
            return process;
        } catch (RuntimeException e) {
            slots.release();
            throw e;
        }
    }

    private void run(Tracked process, Tail tail) {
        try {
            process.pump(tail);
        } finally {
            slots.release();
            forgetOldest();
        }
    }

    private Tracked register(Execution execution, Tracked.Origin origin, Optional<Tail> tail) {
        String id = "p" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        var process = new Tracked(id, execution, origin, clock.instant(), tail, () -> known.remove(id));
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

    /// All that are known, in the order in which they were started.
    public List<ProcessInfo> list() {
        return known.values().stream()
                .map(Tracked::info)
                .sorted(Comparator.comparing(ProcessInfo::startedAt).thenComparing(ProcessInfo::id))
                .toList();
    }

    /// The process with this id. Fails with `NoSuchProcess`.
    public Tracked require(String id) {
        return Optional.ofNullable(known.get(id))
                .orElseThrow(() -> new SandboxException(new Failure.NoSuchProcess(id)));
    }
}
