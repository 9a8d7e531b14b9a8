package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.Scheduler;
import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Query;
import dev.vivarium.core.provider.GuestPrograms;
import dev.vivarium.core.provider.Provider.Disk;
import dev.vivarium.core.provider.process.ProcessProvider;
import dev.vivarium.core.sandbox.FaultyProvider.Step;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.watch.FileHistory;
import dev.vivarium.core.watch.Watchers;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.ThreadId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What becomes of the watch on files when something breaks under it. Here, because streams can be broken here.
class WatchingTest {
    @TempDir
    Path home;

    private FaultyProvider provider;
    private Db db;
    private EventLog log;
    private Scheduler scheduler;
    private Scheduler frozen;
    private Watchers watching;
    private Sandboxes sandboxes;
    private Sandbox sandbox;
    private Path workspace;

    @BeforeEach
    void open() {
        var clock = InstantSource.system();
        db = Db.sqlite(home.resolve("viv.db"));
        log = new EventLog(db, clock, new EventBodyJson());
        scheduler = new Scheduler(clock);
        watching = new Watchers(log, new FileHistory(db), Duration.ofHours(1), scheduler);
        provider = new FaultyProvider(ProcessProvider.open(home, GuestPrograms.extractTo(home)));
        // No time passes, so that nobody asks a guest that a test has stopped whether it is still there.
        frozen = new Scheduler(clock, () -> 0);
        sandboxes = Sandboxes.open(provider, db, House.plain(), List.of(watching), frozen);
        watching.begin(sandboxes);
        sandbox = sandboxes.open(NewSandbox.of(House.ANN, new ThreadId("t1"))).sandbox();
        workspace = home.resolve("disks").resolve(sandbox.id().value()).resolve("workspace");
    }

    @AfterEach
    void close() {
        sandboxes.drain();
        watching.close();
        frozen.close();
        scheduler.close();
        provider.survivors().forEach(id -> provider.remove(id, Disk.ERASE));
        provider.close();
        log.close();
        db.close();
    }

    @Test
    void aWatchWhoseStreamBreaksIsTakenUpAgainAndNothingIsMissedOrToldTwice() throws Exception {
        House.run(sandbox, "echo x > before");
        awaitCreated("before");
        provider.hold(Step.CONNECT);
        ((State.Running) sandbox.lifecycle().state()).guest().close();
        provider.awaitArrival(Step.CONNECT);
        Files.writeString(workspace.resolve("meanwhile"), "x");
        provider.open(Step.CONNECT);

        awaitCreated("meanwhile");
        House.run(sandbox, "echo x > after");
        awaitCreated("after");
        assertThat(events("file.created")).hasSize(3);
    }

    @Test
    void whatTheKernelDroppedIsFoundByLookingAgain() throws Exception {
        House.run(sandbox, "echo x > here");
        awaitCreated("here");
        long guest = Long.parseLong(Files.readString(home.resolve("run/" + sandbox.id() + "/pid")));
        signal("STOP", guest);
        try {
            fillTheQueue();
            Files.writeString(workspace.resolve("unheard"), "x");
        } finally {
            signal("CONT", guest);
        }

        awaitCreated("unheard");
        await().untilAsserted(() -> assertThat(events("file.changes_folded"))
                .as(() -> "all: " + events("file."))
                .anySatisfy(event -> assertThat(event.data()).contains("\"incomplete\":true")));
        House.run(sandbox, "echo y > unheard");
        await().untilAsserted(() -> assertThat(events("file.modified"))
                .anySatisfy(event -> assertThat(event.data()).contains("unheard")));
    }

    /// Each move is two events, as the kernel counts.
    private void fillTheQueue() throws IOException {
        int moves = queued() / 2 + 100;
        Path here = workspace.resolve("here");
        Path there = workspace.resolve("there");
        for (int i = 0; i < moves; i++) {
            Files.move(i % 2 == 0 ? here : there, i % 2 == 0 ? there : here, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /// The kernel tells it to whoever reads all of it at once, and nothing to who comes back for more.
    private static int queued() throws IOException {
        try (var limit = Files.newInputStream(Path.of("/proc/sys/fs/inotify/max_queued_events"))) {
            var digits = new byte[32];
            int length = limit.read(digits);
            return Integer.parseInt(new String(digits, 0, length, StandardCharsets.US_ASCII).strip());
        }
    }

    private static void signal(String name, long pid) throws Exception {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                .start()
                .waitFor();
        assertThat(exit).isZero();
    }

    private void awaitCreated(String path) {
        await().untilAsserted(() -> assertThat(events("file.created"))
                .anySatisfy(event -> assertThat(event.data()).contains("\"path\":\"" + path + "\"")));
    }

    private List<Event> events(String type) {
        return log.read(sandbox.id(), new Query(0, Optional.empty(), Optional.of(type), Query.MOST));
    }
}
