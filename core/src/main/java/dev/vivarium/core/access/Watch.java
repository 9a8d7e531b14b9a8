package dev.vivarium.core.access;

import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/// Somebody who wants to know when a token ends, because a connection that it opened is still there. Told once, by a
/// worker of its own. Close it when the connection closes. Thread-safe.
public final class Watch implements AutoCloseable {
    private final Watches watches;
    private final Set<Ended> reasons;
    private final Consumer<Ended> listener;
    private final AtomicBoolean told = new AtomicBoolean();
    private volatile Grant grant;

    /// Why a token ended.
    public enum Ended {
        EXPIRED,
        REVOKED,
        /// Another took its place a while ago.
        REPLACED,
        /// Its subject is no longer invited, or to less.
        UNINVITED,
        /// The sandbox has another key.
        ROTATED,
        SANDBOX_ENDED
    }

    Watch(Watches watches, Grant grant, Set<Ended> reasons, Consumer<Ended> listener) {
        this.watches = watches;
        this.grant = grant;
        this.reasons = Set.copyOf(reasons);
        this.listener = listener;
    }

    /// The connection has shown another token for the same sandbox: from now on that one counts.
    public void renew(Grant other) {
        if (!other.sandbox().equals(grant.sandbox())) {
            throw new IllegalArgumentException("the token is for another sandbox");
        }
        grant = other;
    }

    Grant grant() {
        return grant;
    }

    void tell(Ended why) {
        if (reasons.contains(why) && told.compareAndSet(false, true)) {
            watches.remove(this);
            Thread.ofVirtual().name("token-ended").start(() -> listener.accept(why));
        }
    }

    /// Idempotent.
    @Override
    public void close() {
        told.set(true);
        watches.remove(this);
    }
}
