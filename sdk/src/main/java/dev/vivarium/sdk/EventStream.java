package dev.vivarium.sdk;

import java.util.Iterator;

/// Events of one sandbox in the order of their numbers. `next` and `hasNext` wait for the server. Confined to one
/// thread.
public interface EventStream extends Iterator<SandboxEvent>, AutoCloseable {
    /// Closes the connection. Idempotent.
    @Override
    void close();
}
