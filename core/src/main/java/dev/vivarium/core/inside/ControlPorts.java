package dev.vivarium.core.inside;

import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Control ports of all sandboxes, and the dispatcher of their connections. Thread-safe.
///
/// After a restart, sandboxes may connect before the handler is set. Their connections wait, with a timeout.
public final class ControlPorts implements ControlPortHandler {
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final CompletableFuture<ControlPortHandler> controlPortHandler = new CompletableFuture<>();

    /// Ports that an earlier server opened.
    private final Map<SandboxId, Integer> numbers;

    public ControlPorts(Map<SandboxId, Integer> numbers) {
        this.numbers = numbers;
    }

    /// Returns the control port of a sandbox, open if an earlier server opened it.
    public ControlPort of(SandboxId id) {
        Integer port = numbers.get(id);
        return port == null ? ControlPort.closed(id, this) : ControlPort.openAt(id, this, port);
    }

    /// Sets the handler of all connections, once.
    public void setHandler(ControlPortHandler handler) {
        controlPortHandler.complete(handler);
    }

    @Override
    public void serve(InsideConnection connection) {
        try {
            controlPortHandler.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).serve(connection);
        } catch (TimeoutException e) {
            // No handler was set in time. The connection closes, and the program inside may retry.
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
