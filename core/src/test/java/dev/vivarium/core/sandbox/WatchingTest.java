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

/// File watches after broken streams and lost kernel events. This package can break streams.
class WatchingTest {
    @TempDir
    Path home;

    private FaultyProvider provider;
    private Db db;
    private EventLog log;
    private Scheduler scheduler;
    private Scheduler frozen;
    private Watchers watchers;
    private Sandboxes sandboxes;
    private Sandbox sandbox;
    private Path workspace;

    @BeforeEach
    void open() {
        var clock = InstantSource.system();
        db = Db.sqlite(home.resolve("viv.db"));
        log = new EventLog(db, clock, new EventBodyJson());
        scheduler = new Scheduler(clock);
        watchers = new Watchers(log, new FileHistory(db), Duration.ofHours(1), scheduler);
        provider = new FaultyProvider(ProcessProvider.open(home, GuestPrograms.extractTo(home)));
        // Time does not advance, so that no liveness probe runs against a stopped guest.
        frozen = new Scheduler(clock, () -> 0);
        sandboxes = Sandboxes.open(provider, db, TestEngine.plain(), List.of(watchers), frozen);
        watchers.begin(sandboxes);
        sandbox = sandboxes
                .open(NewSandbox.of(TestEngine.ANN, new ThreadId("t1")))
                .sandbox();
        workspace = home.resolve("disks").resolve(sandbox.id().value()).resolve("workspace");
    }

    @AfterEach
    void close() {
        sandboxes.drain();
        watchers.close();
        frozen.close();
        scheduler.close();
        provider.survivors().forEach(id -> provider.remove(id, Disk.ERASE));
        provider.close();
        log.close();
        db.close();
    }

    @Test
    void reconnectedWatchReportsEveryChangeOnce() throws Exception {
        TestEngine.run(sandbox, "echo x > before");
        awaitCreated("before");
        provider.hold(Step.CONNECT);
        ((State.Running) sandbox.lifecycle().state()).guest().close();
        provider.awaitArrival(Step.CONNECT);
        Files.writeString(workspace.resolve("meanwhile"), "x");
        provider.open(Step.CONNECT);

        awaitCreated("meanwhile");
        TestEngine.run(sandbox, "echo x > after");
        awaitCreated("after");
        assertThat(events("file.created")).hasSize(3);
    }

    @Test
    void changesDroppedByTheKernelAreFoundByASurvey() throws Exception {
        TestEngine.run(sandbox, "echo x > here");
        awaitCreated("here");
        long guest = Long.parseLong(Files.readString(home.resolve("run/" + sandbox.id() + "/pid")));
        signal("STOP", guest);
        try {
            fillEventQueue();
            Files.writeString(workspace.resolve("unheard"), "x");
        } finally {
            signal("CONT", guest);
        }

        awaitCreated("unheard");
        await().untilAsserted(() -> assertThat(events("file.changes_folded"))
                .as(() -> "all: " + events("file."))
                .anySatisfy(event -> assertThat(event.data()).contains("\"incomplete\":true")));
        TestEngine.run(sandbox, "echo y > unheard");
        await().untilAsserted(() -> assertThat(events("file.modified"))
                .anySatisfy(event -> assertThat(event.data()).contains("unheard")));
    }

    /// Each move adds two events to the queue of the kernel.
    private void fillEventQueue() throws IOException {
        int moves = queueLimit() / 2 + 100;
        Path here = workspace.resolve("here");
        Path there = workspace.resolve("there");
        for (int i = 0; i < moves; i++) {
            Files.move(i % 2 == 0 ? here : there, i % 2 == 0 ? there : here, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /// Reads the kernel limit in one call. The kernel returns nothing to a second read.
    private static int queueLimit() throws IOException {
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
