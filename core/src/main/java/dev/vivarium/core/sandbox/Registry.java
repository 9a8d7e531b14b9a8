package dev.vivarium.core.sandbox;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/// Which sandboxes there are, by id and by thread, and which ids have, or may be about to have, a machine. Thread-safe.
///
/// An id is claimed before anything is started under it and released after everything was removed, so that what a
/// provider finds and nobody claims is an orphan. Machines are made and removed in turns, since a provider need not
/// bear both at once for one id.
final class Registry {
    private final Map<SandboxId, Sandbox> byId = new ConcurrentHashMap<>();
    private final Map<ThreadId, Sandbox> byThread = new ConcurrentHashMap<>();
    private final Map<SandboxId, Semaphore> claimed = new ConcurrentHashMap<>();

    void claim(SandboxId id) {
        claimed.computeIfAbsent(id, _ -> new Semaphore(1, true));
    }

    void release(SandboxId id) {
        claimed.remove(id);
    }

    boolean isClaimed(SandboxId id) {
        return claimed.containsKey(id);
    }

    /// Does something to the machine of `id` when nobody else does; claims the id if nobody has.
    <T> T inTurn(SandboxId id, Supplier<T> work) {
        Semaphore turn = claimed.computeIfAbsent(id, _ -> new Semaphore(1, true));
        turn.acquireUninterruptibly();
        try {
            return work.get();
        } finally {
            turn.release();
        }
    }

    /// Makes a sandbox known by its id.
    void add(Sandbox sandbox) {
        byId.put(sandbox.id(), sandbox);
    }

    /// Makes it the sandbox of its thread.
    void assign(Sandbox sandbox) {
        byThread.put(sandbox.thread(), sandbox);
    }

    /// Takes it from its thread, unless that has another one by now.
    void unassign(Sandbox sandbox) {
        byThread.remove(sandbox.thread(), sandbox);
    }

    void remove(Sandbox sandbox) {
        unassign(sandbox);
        byId.remove(sandbox.id(), sandbox);
    }

    Optional<Sandbox> find(SandboxId id) {
        return Optional.ofNullable(byId.get(id));
    }

    Optional<Sandbox> find(ThreadId thread) {
        return Optional.ofNullable(byThread.get(thread));
    }

    Collection<Sandbox> all() {
        return byId.values();
    }
}
