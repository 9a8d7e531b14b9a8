package dev.vivarium.core.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.files.Turns;
import dev.vivarium.core.files.Workspace;
import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.watch.FileRows.Step;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.SandboxId;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
    @TempDir
    private Path directory;

    @Test
    void whatAnOlderServerRememberedByATooLongNameIsForgottenInSilence() {
        var sandbox = SandboxId.random(new Random(1));
        try (var db = Db.sqlite(directory.resolve("store.db"));
                var log = new EventLog(db, InstantSource.system());
                var real = RealGuest.start()) {
            var history = new FileHistory(db);
            var remembered = new Version(
                    "x".repeat(1100), FileEntry.Type.FILE, 1, Instant.EPOCH, Optional.empty(), Optional.empty(), 0);
            history.write(sandbox, List.of(new Step(Optional.empty(), Optional.of(remembered), 1)));
            var ledger = new Ledger(sandbox, log, history, System::nanoTime);
            ledger.recall();

            ledger.survey(new Workspace(real.guest(), new Turns()));

            assertThat(history.current(sandbox)).isEmpty();
            assertThat(log.read(sandbox, Query.after(0, 10))).isEmpty();
        }
    }
}
