package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.exec.CommandStarted;
import dev.vivarium.core.lifecycle.LifecycleEvents;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.core.store.Db;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Command;
import dev.vivarium.model.CommandEvent;
import dev.vivarium.model.End;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.ProcessInfo;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What the log says of how a sandbox ended, where the API cannot end it so.
class LifecycleEventsTest {
    @TempDir
    Path home;

    @ParameterizedTest
    @CsvSource({"0, crash, its machine died", "1, oom, its machine died for want of memory"})
    void theEndOfAMachineThatDiedIsToldWithItsReason(int kills, String reason, String detail) throws Exception {
        var clock = InstantSource.system();
        try (var db = Db.sqlite(home.resolve("viv.db"));
                var log = new EventLog(db, clock, new EventBodyJson());
                var scheduler = new Scheduler(clock);
                var lifecycleEvents = new LifecycleEvents(log, scheduler);
                var provider = new FaultyProvider(ProcessProvider.open(home, GuestPrograms.extractTo(home)))) {
            var sandboxes = Sandboxes.open(provider, db, House.plain(), List.of(lifecycleEvents), scheduler);
            var id = sandboxes
                    .open(NewSandbox.of(House.ANN, new ThreadId("t1")))
                    .sandbox()
                    .id();
            provider.oomKills = kills;
            long guest = Long.parseLong(Files.readString(home.resolve("run/" + id + "/pid")));
            ProcessHandle.of(guest).orElseThrow().destroyForcibly();

            await().untilAsserted(() -> assertThat(
                            log.read(id, new Query(0, Optional.empty(), Optional.of("sandbox.terminated"), 10)))
                    .singleElement()
                    .satisfies(end -> assertThat(end.data())
                            .contains("\"reason\":\"" + reason + "\"", "\"detail\":\"" + detail + "\"")));
            sandboxes.drain();
            provider.survivors().forEach(left -> provider.remove(left, Disk.ERASE));
        }
    }

    @Test
    void anEndThatTheStoreRefusedIsLoggedWhenTheStoreWorksAgain() {
        var clock = InstantSource.system();
        try (var db = Db.sqlite(home.resolve("viv.db"));
                var log = new EventLog(db, clock, new EventBodyJson());
                var scheduler = new Scheduler(clock);
                var lifecycleEvents = new LifecycleEvents(log, scheduler);
                var provider = ProcessProvider.open(home, GuestPrograms.extractTo(home));
                var sandboxes = Sandboxes.open(provider, db, House.plain(), List.of(lifecycleEvents), scheduler)) {
            var id = sandboxes
                    .open(NewSandbox.of(House.ANN, new ThreadId("t1")))
                    .sandbox()
                    .id();
            int broken = db.write(sql -> sql.update("create trigger broken before insert on sandbox_events"
                    + " begin select raise(abort, 'broken by the test'); end"));
            sandboxes.terminate(id, End.Cause.USER, "by request");
            assertThat(log.newest(id, "sandbox.terminated", 1)).isEmpty();
            int mended = db.write(sql -> sql.update("drop trigger broken"));

            await().untilAsserted(() ->
                    assertThat(log.newest(id, "sandbox.terminated", 1)).hasSize(1));
        }
    }

    @Test
    void aTruncatedCommandLineCanBeRead() {
        var sandbox = SandboxId.random(new Random(1));
        try (var db = Db.sqlite(home.resolve("viv.db"));
                var log = new EventLog(db, InstantSource.system(), new EventBodyJson());
                var scheduler = new Scheduler(InstantSource.system());
                var lifecycleEvents = new LifecycleEvents(log, scheduler)) {
            var command = Command.of("x".repeat(4095) + "😀😀");
            lifecycleEvents.command(sandbox, CommandStarted.of(command, 7));
            log.append(sandbox, NewEvent.of("after", "{}", "test"));

            assertThat(log.codec().decode(log.read(sandbox, Query.after(0, 1)).getFirst()))
                    .isEqualTo(new CommandEvent.Started(
                            new CommandEvent.Target(7, Optional.empty(), Optional.empty()),
                            ProcessInfo.Kind.EXEC,
                            "x".repeat(4095) + "…"));
        }
    }
}
