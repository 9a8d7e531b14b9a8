package dev.vivarium.core.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.store.Db;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventFollowerTest {
    private static final SandboxId SANDBOX = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
    private static final NewEvent START = NewEvent.of("sandbox.started", "{}", NewEvent.OURS);
    private static final NewEvent END = NewEvent.of("sandbox.terminated", "{}", NewEvent.OURS);

    @TempDir
    Path home;

    private Db db;
    private EventLog log;

    @BeforeEach
    void open() {
        db = Db.sqlite(home.resolve("viv.db"));
        log = new EventLog(db, InstantSource.system(), new EventBodyJson());
        log.append(SANDBOX, START);
    }

    @AfterEach
    void close() {
        log.close();
        db.close();
    }

    @Test
    void followerReceivesTheEndEvent() throws Exception {
        try (var eventFollower = new EventFollower(log, SANDBOX, 0, false)) {
            assertThat(types(eventFollower.next(Duration.ZERO).events())).containsExactly("sandbox.started");
            assertThat(eventFollower.next(Duration.ZERO).events()).isEmpty();
            assertThat(eventFollower.isOver()).isFalse();

            var rest = new FutureTask<>(() -> all(eventFollower));
            Thread.ofVirtual().start(rest);
            log.append(SANDBOX, END);

            assertThat(types(rest.get())).containsExactly("sandbox.terminated");
        }
    }

    @Test
    void lateFollowerReadsTheHistoryAndEnds() throws Exception {
        long end = log.append(SANDBOX, END).event().seq();
        assertThat(types(all(0))).containsExactly("sandbox.started", "sandbox.terminated");

        log.append(SANDBOX, NewEvent.of("note.added", "{}", "ann"));

        assertThat(types(all(end))).containsExactly("note.added");
        assertThat(all(end + 1)).isEmpty();
    }

    private List<Event> all(long after) throws InterruptedException {
        try (var eventFollower = new EventFollower(log, SANDBOX, after, false)) {
            return all(eventFollower);
        }
    }

    private static List<Event> all(EventFollower eventFollower) throws InterruptedException {
        var events = new ArrayList<Event>();
        while (!eventFollower.isOver()) {
            events.addAll(eventFollower.next(Duration.ofMinutes(1)).events());
        }
        return events;
    }

    private static List<String> types(List<Event> events) {
        return events.stream().map(Event::type).toList();
    }
}
