package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Behaviour of the log if the store responds too late.
class LateWriteTest {
    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private final SandboxId sandbox = SandboxId.random(new Random(1));

    @TempDir
    Path home;

    @Test
    void timedOutEventIsNeverStoredAndItsNumberIsReused() throws Exception {
        var gate = new CountDownLatch(1);
        var entered = new CountDownLatch(1);
        try (Db db = Db.sqlite(home.resolve("viv.db"), TIMEOUT);
                var log = new EventLog(db, InstantSource.system(), new EventBodyJson());
                var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> slow = callers.submit(() -> db.write(sql -> {
                entered.countDown();
                DbTest.awaitQuietly(gate);
                return 0;
            }));
            entered.await();

            assertThatThrownBy(() -> append(log, "late"))
                    .isInstanceOf(SandboxException.class)
                    .hasMessageContaining("waited longer");
            gate.countDown();
            slow.get();
            append(log, "next");

            assertThat(log.read(sandbox, Query.after(0, 10)))
                    .extracting(Event::type, Event::seq)
                    .containsExactly(tuple("next", 1L));
        }
    }

    private void append(EventLog log, String type) {
        log.append(sandbox, NewEvent.of(type, "{}", "agent"));
    }
}
