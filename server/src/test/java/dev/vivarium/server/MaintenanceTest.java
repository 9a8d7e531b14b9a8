package dev.vivarium.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.log.Retention;
import dev.vivarium.core.run.Inbox;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.watch.FileHistory;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Message;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewMessage;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.settings.LogConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MaintenanceTest {
    private static final InstantSource CLOCK = InstantSource.system();

    private final SandboxId sandbox = SandboxId.random(new Random(1));

    @TempDir
    private Path directory;

    @Test
    void expiredEventsAndMessagesOfAnUnknownSandboxAreDeleted() {
        var config = new LogConfig(LogConfig.Format.TEXT, new Retention(Duration.ofMillis(200), 1_000_000));
        try (var db = Db.sqlite(directory.resolve("db"));
                var log = new EventLog(db, CLOCK, new EventBodyJson())) {
            var inbox = new Inbox(db, log, CLOCK);
            log.append(sandbox, NewEvent.of("a", "{}", "test"));
            inbox.post(sandbox, new NewMessage("never heard", Message.Kind.USER_MESSAGE, "test"));
            try (var scheduler = new Scheduler(CLOCK);
                    var _ = new Maintenance(config, log, inbox, new FileHistory(db), scheduler)) {
                await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
                    assertThat(log.read(sandbox, Query.after(0, 10))).isEmpty();
                    assertThat(inbox.waiting(sandbox)).isZero();
                });
            }
        }
    }
}
