package dev.vivarium.core.sandbox;

import java.util.concurrent.atomic.AtomicBoolean;

/// Use of a sandbox, until it is closed. Thread-safe.
public final class SandboxUse implements AutoCloseable {
    private final Lease lease;
    private final AtomicBoolean isOpen = new AtomicBoolean(true);

    SandboxUse(Lease lease) {
        this.lease = lease;
        lease.began();
    }

    /// Idempotent.
    @Override
    public void close() {
        if (isOpen.getAndSet(false)) {
            lease.ended();
        }
    }
}
