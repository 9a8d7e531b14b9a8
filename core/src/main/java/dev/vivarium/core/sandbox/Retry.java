package dev.vivarium.core.sandbox;

import dev.vivarium.core.provider.Polling;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.time.Duration;

/// Exponential backoff between attempts to recover a sandbox, up to [#LONGEST]. It ends when the server shuts down or
/// the sandbox ends. Confined to one thread.
final class Retry {
    private static final Duration FIRST = Duration.ofMillis(200);
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private final BackgroundTasks tasks;
    private final Sandbox sandbox;
    private Duration pause = FIRST;

    Retry(BackgroundTasks tasks, Sandbox sandbox) {
        this.tasks = tasks;
        this.sandbox = sandbox;
    }

    /// Reports whether the guest caused a failure. A failure of the server must not end the sandbox.
    static boolean isFaultOfGuest(RuntimeException failure) {
        return failure instanceof SandboxException known && known.failure() instanceof Failure.GuestUnreachable;
    }

    /// Reports whether another attempt is useful. After a drain, the next server recovers the sandbox.
    boolean isWanted() {
        return !tasks.isDraining() && sandbox.info().end().isEmpty();
    }

    void pause() {
        Polling.until(pause, () -> !isWanted());
        Duration doubled = pause.multipliedBy(2);
        pause = doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
    }
}
