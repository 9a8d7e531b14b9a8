package dev.vivarium.testing;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.SandboxRow;
import dev.vivarium.core.store.SandboxRows;
import dev.vivarium.model.Egress;
import dev.vivarium.model.Limits;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// Database of another server with one sandbox. Stateless.
final class ForeignStore {
    private ForeignStore() {}

    static void create(Path file) {
        try (var db = Db.sqlite(file)) {
            new SandboxRows(db).insert(row());
        }
    }

    private static SandboxRow row() {
        Instant now = Instant.now();
        return new SandboxRow(
                SandboxId.random(new SecureRandom()),
                Optional.of(new ThreadKey(new UserId("stranger"), new ThreadId(Api.thread()))),
                SandboxRow.Phase.RUNNING,
                "host",
                "secret",
                Limits.STANDARD,
                Map.of(),
                Egress.NONE,
                Duration.ofMinutes(30),
                OnIdle.END,
                now,
                now,
                now.plusSeconds(3600),
                Optional.empty());
    }
}
