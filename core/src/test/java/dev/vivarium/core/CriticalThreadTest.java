package dev.vivarium.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CriticalThreadTest {
    @Test
    void throwingLoopIsRestarted() throws Exception {
        var runs = new AtomicInteger();
        Thread thread = CriticalThread.start("test-again", () -> {
            if (runs.incrementAndGet() <= CriticalThread.MAX_RESTARTS) {
                throw new IllegalStateException("as the test wants it");
            }
        });
        thread.join();
        assertThat(runs).hasValue(CriticalThread.MAX_RESTARTS + 1);
        assertThat(CriticalThread.ended()).doesNotContain("test-again");
    }

    @Test
    void loopBeyondTheRestartLimitEndsItsThread() throws Exception {
        var uncaught = new ArrayList<Throwable>();
        Thread thread = CriticalThread.unstarted("test-ends", () -> {
            throw new IllegalStateException("as the test wants it");
        });
        thread.setUncaughtExceptionHandler((_, e) -> uncaught.add(e));
        thread.start();
        thread.join();
        assertThat(uncaught).singleElement().isInstanceOf(CriticalThread.Failed.class);
        assertThat(CriticalThread.ended()).contains("test-ends");
    }

    @Test
    void errorReachesTheHandlerBeforeTheRestart() throws Exception {
        List<Throwable> uncaught = Collections.synchronizedList(new ArrayList<>());
        var runs = new AtomicInteger();
        Thread thread = CriticalThread.unstarted("test-error", () -> {
            if (runs.incrementAndGet() == 1) {
                throw new OutOfMemoryError("as the test wants it");
            }
        });
        thread.setUncaughtExceptionHandler((_, e) -> uncaught.add(e));
        thread.start();
        thread.join();
        assertThat(uncaught).singleElement().isInstanceOf(OutOfMemoryError.class);
        assertThat(runs).hasValue(2);
    }
}
