package dev.vivarium.core.inside;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Where all doors lead. After a restart sandboxes may come back before there is somebody to serve their visits; these
/// wait a little. Thread-safe.
public final class ControlPorts implements ControlPortHandler {
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final CompletableFuture<ControlPortHandler> controlPortHandler = new CompletableFuture<>();

    /// Has `who` serve all visits, from now on and for good.
    public void staff(ControlPortHandler who) {
        controlPortHandler.complete(who);
    }

    @Override
    public void serve(InsideConnection visit) {
        try {
            controlPortHandler.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).serve(visit);
        } catch (TimeoutException e) {
            // Nobody is there: the visit ends here, and the program inside may try again.
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
