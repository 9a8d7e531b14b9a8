package dev.vivarium.core.sandbox;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadKey;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/// Index of the sandboxes by id and by thread, and of the ids that have, or may soon have, a machine. Thread-safe.
///
/// An id is claimed before anything is started under it and released after everything was removed. If a provider finds
/// an id that is not claimed, that id is an orphan. Creation and removal of one id never overlap, because a provider
/// need not support that.
final class Registry {
    private final Map<SandboxId, Sandbox> byId = new ConcurrentHashMap<>();
    private final Map<ThreadKey, Sandbox> byThread = new ConcurrentHashMap<>();
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

    /// Runs `work` on the machine of `id`, exclusively; claims the id if needed.
    <T> T exclusively(SandboxId id, Supplier<T> work) {
        Semaphore mutex = claimed.computeIfAbsent(id, _ -> new Semaphore(1, true));
        mutex.acquireUninterruptibly();
        try {
            return work.get();
        } finally {
            mutex.release();
        }
    }

    void add(Sandbox sandbox) {
        byId.put(sandbox.id(), sandbox);
    }

    /// Registers the sandbox of its thread.
    void assign(Sandbox sandbox) {
        byThread.put(sandbox.owner(), sandbox);
    }

    /// Removes the sandbox from its thread, unless the thread has another sandbox.
    void unassign(Sandbox sandbox) {
        byThread.remove(sandbox.owner(), sandbox);
    }

    void remove(Sandbox sandbox) {
        unassign(sandbox);
        byId.remove(sandbox.id(), sandbox);
    }

    Optional<Sandbox> find(SandboxId id) {
        return Optional.ofNullable(byId.get(id));
    }

    Optional<Sandbox> find(ThreadKey key) {
        return Optional.ofNullable(byThread.get(key));
    }

    Collection<Sandbox> all() {
        return byId.values();
    }
}
