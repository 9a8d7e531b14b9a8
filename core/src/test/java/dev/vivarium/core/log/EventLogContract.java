package dev.vivarium.core.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.Sql;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskLog;
import dev.vivarium.model.UserId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Contract of the event log on every database.
abstract class EventLogContract {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final SandboxId sandbox = SandboxId.random(new Random(1));
    private final SandboxId other = SandboxId.random(new Random(2));
    private Instant now = NOON;
    private Db db;
    private EventLog log;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
        log = new EventLog(db, () -> now, new EventBodyJson());
    }

    @AfterEach
    void close() {
        log.close();
        db.close();
    }

    @Test
    void eachSandboxHasItsOwnNumbersFromOne() {
        assertThat(append(sandbox, "a").event().seq()).isEqualTo(1);
        assertThat(append(other, "b").event().seq()).isEqualTo(1);
        assertThat(append(sandbox, "c").event().seq()).isEqualTo(2);
    }

    @Test
    void closeWritesAllNotedEvents() {
        for (int i = 0; i < 1000; i++) {
            log.note(sandbox, NewEvent.of("noted", "{}", "agent"));
        }
        log.close();

        log = new EventLog(db, () -> now, new EventBodyJson());
        assertThat(log.read(sandbox, Query.after(0, 1000))).hasSize(1000);
    }

    @Test
    void readerResumesAndHandlesEveryEventOnce() {
        var handler = new Sum();
        var reader = log.reader("sum", handler);
        append(sandbox, "add");
        append(sandbox, "ignored");
        append(other, "add");
        reader.await(sandbox);
        reader.await(other);
        assertThat(handler.sum(db)).isEqualTo(2);
        log.close();
        log = new EventLog(db, () -> now, new EventBodyJson());
        for (int i = 0; i < 250; i++) {
            log.note(sandbox, NewEvent.of("add", "{}", "agent"));
        }
        append(sandbox, "add");

        reader = log.reader("sum", handler);

        reader.await(sandbox);
        assertThat(handler.sum(db)).isEqualTo(253);
        assertThatThrownBy(() -> log.reader("sum", handler)).hasMessageContaining("already has a reader");
    }

    @Test
    void failedHandlerIsRolledBackAndRetried() {
        var handler = new Sum();
        var reader = log.reader("sum", handler);
        handler.isBroken = _ -> true;
        append(sandbox, "add");
        assertThatThrownBy(() -> reader.await(sandbox)).hasMessageContaining("a bug in a handler");
        assertThat(handler.sum(db)).isZero();

        handler.isBroken = _ -> false;

        await().until(() -> handler.sum(db) == 1);
        reader.await(sandbox);
        assertThat(handler.sum(db)).isEqualTo(1);
    }

    @Test
    void anEventThatAlwaysFailsStopsOnlyItsOwnLogAndIsLoggedOnce() {
        var handler = new Sum();
        handler.isBroken = event -> event.logId().equals(sandbox) && event.seq() == 2;
        var reader = log.reader("sum", handler);
        var warnings = new ConcurrentLinkedQueue<String>();
        var logger = Logger.getLogger(EventReader.class.getName());
        logger.setFilter(entry -> !warnings.add(entry.getMessage()));
        try {
            IntStream.range(0, 3).forEach(_ -> append(sandbox, "add"));
            append(other, "add");

            IntStream.range(0, 3)
                    .forEach(
                            _ -> assertThatThrownBy(() -> reader.await(sandbox)).hasMessageContaining("a bug"));
            reader.await(other);
            assertThat(handler.sum(db))
                    .as("the first of one log, and the other log")
                    .isEqualTo(2);
            assertThat(warnings).singleElement().asString().contains("sum", "event 2", sandbox.value());
        } finally {
            logger.setFilter(null);
        }

        handler.isBroken = _ -> false;
        reader.await(sandbox);
        assertThat(handler.sum(db)).isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 4", "9, 256", "10, 300", "1000000, 300"})
    void thePauseBeforeARetryGrowsToFiveMinutes(int failures, long seconds) {
        assertThat(EventReader.pauseAfter(failures)).hasSeconds(seconds);
    }

    @Test
    void aLogWithAnEventThatFailsDoesNotPreventThePruningOfOthers() {
        var handler = new Sum();
        handler.isBroken = event -> event.logId().equals(sandbox);
        log.reader("sum", handler);
        for (SandboxId one : List.of(sandbox, other)) {
            append(one, "add");
            append(one, "ignored");
        }
        now = NOON.plus(Duration.ofDays(2));

        log.prune(new Retention(Duration.ofDays(1), Long.MAX_VALUE), () -> now);

        assertThat(log.first(sandbox)).isEqualTo(1);
        assertThat(log.first(other)).isEqualTo(2);
    }

    @Test
    void unhandledEventsAreNotPruned() {
        var handler = new Sum();
        var reader = log.reader("sum", handler);
        append(sandbox, "add");
        append(sandbox, "ignored");
        now = NOON.plus(Duration.ofDays(2));

        log.prune(new Retention(Duration.ofDays(1), Long.MAX_VALUE), () -> now);

        assertThat(log.first(sandbox)).isEqualTo(2);
        assertThat(handler.sum(db)).isEqualTo(1);
        reader.await(sandbox);
        assertThat(handler.sum(db)).isEqualTo(1);
    }

    /// Counts events in a table of the database, in the transaction of the cursor.
    private static final class Sum implements EventReader.Handler {
        private volatile Predicate<Event> isBroken = _ -> false;

        @Override
        public Set<String> types() {
            return Set.of("add");
        }

        @Override
        public void handle(Sql sql, Event event) throws SQLException {
            sql.update(
                    "insert into event_cursors (reader, sandbox_id, seq) values ('total', ?, 1)"
                            + " on conflict (reader, sandbox_id) do update set seq = event_cursors.seq + 1",
                    event.logId().value());
            if (isBroken.test(event)) {
                throw new IllegalStateException("a bug in a handler");
            }
        }

        long sum(Db db) {
            return db
                    .read(sql ->
                            sql.list("select seq from event_cursors where reader = 'total'", row -> row.getLong(1)))
                    .stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }

    @Test
    void eventIsReadBackUnchanged() {
        var given = new NewEvent(Optional.of("mine"), "agent.started", "{\"a\":\"€\\n\"}", "agent");

        Event kept = log.append(sandbox, given).event();

        assertThat(kept)
                .isEqualTo(new Event(
                        sandbox, 1, "mine", "agent.started", "{\"a\":\"€\\n\"}", "agent", NOON, Optional.empty()));
        assertThat(log.read(sandbox, Query.after(0, 10))).containsExactly(kept);
        assertThat(log.read(other, Query.after(0, 10))).isEmpty();
    }

    @Test
    void appendingAnExistingIdReturnsTheStoredEvent() {
        var event = new NewEvent(Optional.of("once"), "a", "{}", "agent");
        AppendResult first = log.append(sandbox, event);
        now = NOON.plusSeconds(1);

        AppendResult again = log.append(sandbox, event);
        AppendResult elsewhere = log.append(other, event);

        assertThat(first.isNew()).isTrue();
        assertThat(again).isEqualTo(new AppendResult(first.event(), false));
        assertThat(elsewhere.isNew()).isTrue();
        assertThat(append(sandbox, "b").event().seq()).isEqualTo(2);
    }

    @Test
    void concurrentAppendsLeaveNoGapsAndNoDuplicates() throws Exception {
        // Two callers append every event, like a worker that retries because it lost the response.
        List<Callable<AppendResult>> calls = IntStream.range(0, 2_000)
                .mapToObj(i -> (Callable<AppendResult>) () -> log.append(
                        i % 3 == 0 ? other : sandbox,
                        new NewEvent(Optional.of("id-" + i / 2 + "-" + i % 3 / 2), "a", "{}", "agent")))
                .toList();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<AppendResult> call : callers.invokeAll(calls)) {
                call.get();
            }
        }

        for (SandboxId each : List.of(sandbox, other)) {
            List<Event> all = readAll(each);
            assertThat(all).extracting(Event::seq).containsExactlyElementsOf(numbers(1, all.size()));
            assertThat(all).extracting(Event::id).doesNotHaveDuplicates();
        }
    }

    @ParameterizedTest
    @CsvSource({"agent.,2", "agent.started,1", "agent,0", "file.,1", "agent.start,0"})
    void typeFilterMatchesTheTypeOrItsPrefixWithADot(String type, int count) {
        append(sandbox, "agent.started");
        append(sandbox, "file.created");
        append(sandbox, "agent.completed");

        assertThat(log.read(sandbox, new Query(0, Optional.empty(), Optional.of(type), 10)))
                .hasSize(count);
    }

    @Test
    void pageIsLimitedInSizeAndTheNextPageContinues() {
        var large = "{\"text\":\"" + "x".repeat(NewEvent.LONGEST_DATA - 100) + "\"}";
        var events = IntStream.range(0, 100)
                .mapToObj(i -> NewEvent.of("a", large, NewEvent.OURS))
                .toList();
        log.append(sandbox, events);

        List<Event> first = log.read(sandbox, Query.after(0, Query.MOST));

        assertThat(first).hasSizeBetween(20, 23);
        assertThat(first.stream().mapToInt(event -> event.data().length()).sum())
                .isLessThan(Query.MAX_CHARACTERS + NewEvent.LONGEST_DATA);
        assertThat(readAll(sandbox)).extracting(Event::seq).containsExactlyElementsOf(numbers(1, 100));
        List<Event> newest = log.newest(sandbox, "a", Query.MOST);
        assertThat(newest).hasSameSizeAs(first);
        assertThat(newest.getLast().seq()).isEqualTo(100);
    }

    @Test
    void newestReturnsEventsOfTheServerOnly() {
        append(sandbox, "command.output");
        log.append(sandbox, NewEvent.of("command.output", "{\"ours\":true}", NewEvent.OURS));
        append(sandbox, "command.output");

        assertThat(log.newest(sandbox, "command.", 10)).extracting(Event::seq).containsExactly(2L);
    }

    @Test
    void sinceAndLimitRestrictTheResult() {
        append(sandbox, "a");
        now = NOON.plusSeconds(10);
        append(sandbox, "b");
        append(sandbox, "c");

        assertThat(log.read(sandbox, new Query(0, Optional.of(NOON.plusSeconds(5)), Optional.empty(), 10)))
                .extracting(Event::type)
                .containsExactly("b", "c");
        assertThat(log.read(sandbox, Query.after(1, 1))).extracting(Event::type).containsExactly("b");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 1001})
    void limitOutOfRangeIsRejected(int limit) {
        assertThatThrownBy(() -> Query.after(0, limit)).isInstanceOf(SandboxException.class);
    }

    @Test
    void numbersContinueAfterARestart() {
        append(sandbox, "a");
        log.close();
        db.close();
        open();

        assertThat(append(sandbox, "b").event().seq()).isEqualTo(2);
    }

    @Test
    void followerReadsHistoryThenLiveEvents() throws Exception {
        appendMany(700, "before");
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<List<Long>>> followers = IntStream.range(0, 20)
                    .mapToObj(i -> workers.submit(() -> follow(i * 35L, 2_700)))
                    .toList();
            for (int writer = 0; writer < 4; writer++) {
                workers.submit(() -> IntStream.range(0, 500).forEach(i -> append(sandbox, "after")));
            }
            for (int i = 0; i < followers.size(); i++) {
                assertThat(followers.get(i).get()).isEqualTo(numbers(i * 35L + 1, 2_700));
            }
        }
    }

    @Test
    void followingPastTheEndIsRejected() {
        append(sandbox, "a");

        log.follow(sandbox, 1).close();
        assertThatThrownBy(() -> log.follow(sandbox, 2))
                .hasMessageContaining("after_seq")
                .hasMessageContaining("the last event of this log is 1");
        assertThatThrownBy(() -> log.follow(other, 1)).hasMessageContaining("is 0");
    }

    @Test
    void slowFollowerReadsTheRestFromTheStore() throws Exception {
        try (LogFollower follower = log.follow(sandbox, 0)) {
            append(sandbox, "first");
            assertThat(follower.next(TIMEOUT).events()).hasSize(1);
            appendMany(1_500, "later");

            assertThat(drain(follower, 1_501)).isEqualTo(numbers(2, 1_501));
        }
    }

    @Test
    void pruningKeepsTheNewestAndUnreadEvents() throws Exception {
        IntStream.range(0, 10).forEach(i -> append(sandbox, "old"));
        append(other, "old");
        now = NOON.plus(Duration.ofDays(8));
        var retention = new Retention(Duration.ofDays(7), Long.MAX_VALUE);
        try (LogFollower follower = log.follow(sandbox, 4)) {
            assertThat(log.prune(retention, () -> now)).isEqualTo(4);
            assertThat(drain(follower, 10)).isEqualTo(numbers(5, 10));
        }

        assertThat(log.prune(retention, () -> now)).isEqualTo(5);
        assertThat(readAll(sandbox)).extracting(Event::seq).containsExactly(10L);
        assertThat(append(sandbox, "new").event().seq()).isEqualTo(11);
        assertThat(readAll(other)).hasSize(1);
    }

    @Test
    void pruningDeletesTheOldestEventsOfALargeLog() {
        var data = "{\"text\":\"" + "x".repeat(1_000) + "\"}";
        IntStream.range(0, 10).forEach(i -> log.append(sandbox, NewEvent.of("a", data, "agent")));

        log.prune(new Retention(Duration.ofDays(7), 3 * data.length()), InstantSource.fixed(NOON));

        assertThat(readAll(sandbox)).extracting(Event::seq).containsExactly(8L, 9L, 10L);
    }

    @Test
    void lateFollowerGetsTheNumberOfMissedEvents() throws Exception {
        IntStream.range(0, 10).forEach(i -> append(sandbox, "a"));
        log.prune(new Retention(Duration.ZERO, 0), () -> NOON.plusSeconds(1));

        try (LogFollower follower = log.follow(sandbox, 3)) {
            Batch batch = follower.next(TIMEOUT);
            assertThat(batch.missed()).isEqualTo(6);
            assertThat(batch.events()).extracting(Event::seq).containsExactly(10L);
        }
    }

    @Test
    void liveFeedCoversAllSandboxesAndReportsGaps() throws Exception {
        append(sandbox, "before");
        LiveFeed listener = log.listen();
        append(sandbox, "a");
        append(other, "b");

        assertThat(listener.next(TIMEOUT).events()).extracting(Event::type).containsExactly("a", "b");

        appendMany(600, "flood");
        LiveFeed.FeedPage overrun = listener.next(TIMEOUT);
        var gap = overrun.missed().gaps().getFirst();
        assertThat(overrun.missed().gaps()).hasSize(1);
        assertThat(overrun.missed().isComplete()).isTrue();
        assertThat(gap)
                .isEqualTo(
                        new LiveFeed.Gap(sandbox, 2, overrun.events().getFirst().seq() - 1));
        assertThat(gap.events()).isPositive();
    }

    @Test
    void batchesOfLargeEventsAreSmall() throws Exception {
        var large = "{\"text\":\"" + "x".repeat(90_000) + "\"}";
        try (LogFollower fromTheStore = log.follow(sandbox, 0);
                LogFollower live = log.follow(sandbox, 0)) {
            LiveFeed listener = log.listen();
            assertThat(live.next(Duration.ZERO).events()).isEmpty();
            IntStream.range(0, 10).forEach(i -> log.append(sandbox, NewEvent.of("a", large, "agent")));

            assertThat(fromTheStore.next(TIMEOUT).events()).hasSize(2);
            assertThat(live.next(TIMEOUT).events()).hasSize(2);
            assertThat(listener.next(TIMEOUT).events()).hasSize(2);
        }
    }

    @Test
    void logOfADeletedSandboxIsDeleted() {
        IntStream.range(0, 3).forEach(i -> append(sandbox, "old"));
        var week = Duration.ofDays(7);

        assertThat(log.forgetUnknown(NOON.minus(week))).isZero();
        assertThat(log.forgetUnknown(NOON.plus(week))).isEqualTo(3);
        assertThat(readAll(sandbox)).isEmpty();
    }

    @Test
    void theTasksOfAUserHaveALogThatIsPrunedByAge() {
        var tasks = new TaskLog(new UserId("ann"));
        log.append(tasks, NewEvent.of("task.pending", "{}", NewEvent.OURS));
        Event second = log.append(tasks, NewEvent.of("task.ready", "{}", NewEvent.OURS))
                .event();
        append(sandbox, "a");
        var week = Duration.ofDays(7);

        assertThat(second.seq()).isEqualTo(2);
        assertThat(second.sandbox()).isEmpty();
        assertThat(log.read(tasks, Query.after(1, 10))).containsExactly(second);
        assertThat(log.forgetUnknown(NOON.plus(week))).isEqualTo(1);
        assertThat(log.prune(
                        new Retention(week, Long.MAX_VALUE),
                        () -> NOON.plus(week).plusMillis(1)))
                .isEqualTo(1);
        assertThat(log.read(tasks, Query.after(0, 10))).containsExactly(second);
    }

    @Test
    void largeLogIsPrunedDuringAppendsAndReads() throws Exception {
        appendMany(3_000, "old");
        now = NOON.plus(Duration.ofDays(8));
        try (LogFollower slow = log.follow(sandbox, 1_000);
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            var cut = workers.submit(() -> log.prune(new Retention(Duration.ofDays(7), Long.MAX_VALUE), () -> now));
            var more = workers.submit(() -> appendMany(500, "new"));

            assertThat(cut.get()).isEqualTo(1_000);
            more.get();
            assertThat(drain(slow, 3_500)).isEqualTo(numbers(1_001, 3_500));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "ä", "a/b", "x\n"})
    void typeWithInvalidCharactersIsRejected(String type) {
        assertThatThrownBy(() -> NewEvent.of(type, "{}", "agent")).hasMessageContaining("event_type");
    }

    @Test
    void appendingToAClosedLogFails() {
        log.close();

        assertThatThrownBy(() -> append(sandbox, "a")).hasMessageContaining("closed");
    }

    private AppendResult append(SandboxId to, String type) {
        return log.append(to, NewEvent.of(type, "{}", "test"));
    }

    /// Appends `count` events of one type, by many concurrent callers.
    private void appendMany(int count, String type) {
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            IntStream.range(0, count).forEach(i -> callers.submit(() -> append(sandbox, type)));
        }
    }

    private List<Event> readAll(SandboxId of) {
        var all = new ArrayList<Event>();
        List<Event> page;
        do {
            page = log.read(of, Query.after(all.isEmpty() ? 0 : all.getLast().seq(), Query.MOST));
            all.addAll(page);
        } while (!page.isEmpty());
        return all;
    }

    private List<Long> follow(long from, long until) throws InterruptedException {
        try (LogFollower follower = log.follow(sandbox, from)) {
            return drain(follower, until);
        }
    }

    private static List<Long> drain(LogFollower follower, long until) throws InterruptedException {
        var seen = new ArrayList<Long>();
        while (follower.seq() < until) {
            Batch batch = follower.next(TIMEOUT);
            assertThat(batch.missed()).isZero();
            assertThat(batch.events()).isNotEmpty();
            batch.events().forEach(event -> seen.add(event.seq()));
        }
        return seen;
    }

    private static List<Long> numbers(long first, long last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }
}
