package dev.vivarium.server.preview;

import dev.vivarium.core.access.Scope;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Admission;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Asks again and again whether somebody who stays connected may still be: a token that is revoked or has expired must
/// not live on in an open connection. Thread-safe.
final class Guard implements AutoCloseable {
    private static final Duration EVERY = Duration.ofMillis(500);

    private final CountDownLatch over = new CountDownLatch(1);

    private Guard() {}

    /// Watches until closed; `cut` is called, once, when the credential is no longer good.
    static Guard start(Admission admission, Entrance.Entry entry, Runnable cut) {
        var guard = new Guard();
        String sandbox = entry.sandbox().id().value();
        Thread.ofVirtual()
                .name("preview-guard")
                .start(() -> guard.watch(
                        () -> {
                            admission.admit(sandbox, entry.credential(), Scope.PROCESS);
                        },
                        cut));
        return guard;
    }

    private void watch(Runnable ask, Runnable cut) {
        try {
            while (!over.await(EVERY.toNanos(), TimeUnit.NANOSECONDS)) {
                ask.run();
            }
        } catch (SandboxException e) {
            cut.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Idempotent.
    @Override
    public void close() {
        over.countDown();
    }
}
