package dev.vivarium.core.inside;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Dispatcher of the connections of all control ports. Thread-safe.
///
/// After a restart, sandboxes may connect before the handler is set. Their connections wait, with a timeout.
public final class ControlPorts implements ControlPortHandler {
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final CompletableFuture<ControlPortHandler> controlPortHandler = new CompletableFuture<>();

    /// Sets the handler of all connections, once.
    public void staff(ControlPortHandler who) {
        controlPortHandler.complete(who);
    }

    @Override
    public void serve(InsideConnection visit) {
        try {
            controlPortHandler.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).serve(visit);
        } catch (TimeoutException e) {
            // No handler was set in time. The connection closes, and the program inside may retry.
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
