package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DbTest {
    private static final String INSERT = "insert into threads (thread_id, user_id, created_at) values (?, ?, ?)";

    @TempDir
    Path home;

    @Test
    void writtenRowsSurviveReopening() {
        try (Db db = open()) {
            assertThat(addThread(db, "t1")).isEqualTo(1);
        }
        try (Db db = open()) {
            assertThat(threads(db)).isEqualTo(1);
        }
    }

    @Test
    void onlyTheOwnerCanReadTheFileAndItsDirectory() throws Exception {
        Path file = home.resolve("made/here/viv.db");
        try (Db db = Db.sqlite(file)) {
            addThread(db, "t1");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            assertThat(PosixFilePermissions.toString(
                            Files.getPosixFilePermissions(home.resolve("made/here/viv.db-wal"))))
                    .isEqualTo("rw-------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve("made/here"))))
                    .isEqualTo("rwx------");
        }
    }

    @Test
    void failedStatementWorksAgainAfterTheCauseIsGone() {
        try (Db db = open()) {
            addThread(db, "before");
            rename(db, "threads", "away");
            assertThatThrownBy(() -> addThread(db, "lost")).isInstanceOf(SandboxException.class);
            assertThatThrownBy(() -> threads(db)).isInstanceOf(SandboxException.class);
            rename(db, "away", "threads");

            assertThat(addThread(db, "after")).isEqualTo(1);
            assertThat(threads(db)).isEqualTo(2);
        }
    }

    private static void rename(Db db, String table, String name) {
        int _ = db.write(sql -> sql.update("alter table " + table + " rename to " + name));
    }

    @Test
    void failedStatementInAGroupFailsAlone() throws Exception {
        try (Db db = open();
                var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            addThread(db, "taken");
            var gate = new CountDownLatch(1);
            Future<?> blocker = callers.submit(() -> db.write(sql -> {
                awaitQuietly(gate);
                return 0;
            }));
            var good = IntStream.range(0, 50)
                    .mapToObj(i -> callers.submit(() -> addThread(db, "good" + i)))
                    .toList();
            var bad = callers.submit(() -> addThread(db, "taken"));
            gate.countDown();
            blocker.get();
            for (var future : good) {
                assertThat(future.get()).isEqualTo(1);
            }
            assertThatThrownBy(bad::get).hasCauseInstanceOf(SandboxException.class);
            assertThat(threads(db)).isEqualTo(51);
        }
    }

    @Test
    void exceptionOfTheCallerIsRethrownAndRollsBack() {
        try (Db db = open()) {
            var refused = new SandboxException(new Failure.InvalidRequest("x", "is wrong"));
            assertThatThrownBy(() -> db.write(sql -> {
                        sql.update(INSERT, "t1", "u", 0L);
                        throw refused;
                    }))
                    .isSameAs(refused);
            assertThat(threads(db)).isZero();
        }
    }

    @Test
    void lockedDatabaseFailsWithoutBlocking() throws Exception {
        Path file = home.resolve("viv.db");
        try (Db db = Db.sqlite(file, Duration.ofMillis(200));
                var other = DriverManager.getConnection("jdbc:sqlite:" + file);
                var statement = other.createStatement()) {
            statement.execute("begin immediate");
            assertStoreFailed(() -> addThread(db, "t1"));
            assertThat(threads(db)).isZero();
            statement.execute("rollback");
            assertThat(addThread(db, "t1")).isEqualTo(1);
        }
    }

    @Test
    void fullDiskFailsWritesUntilThereIsSpace() {
        try (Db db = open()) {
            int pages = db.write(
                    sql -> sql.first("pragma page_count", row -> row.getInt(1)).orElseThrow());
            db.write(sql -> sql.first("pragma max_page_count = " + (pages + 1), row -> 0));
            assertStoreFailed(() -> addThread(db, "x".repeat(100_000)));
            assertThat(threads(db)).isZero();
            // The limit applies to the old connection. A failed rollback opens a new one.
            assertThat(addThread(db, "x".repeat(100_000))).isEqualTo(1);
        }
    }

    @Test
    void outOfMemoryRollsBackAndTheStoreContinues() throws Exception {
        try (Db db = open();
                var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            assertThatThrownBy(() -> db.write(DbTest::addThreadWithoutMemory)).isInstanceOf(OutOfMemoryError.class);

            var gate = new CountDownLatch(1);
            Future<?> first = callers.submit(() -> db.write(sql -> {
                awaitQuietly(gate);
                return 0;
            }));
            Future<?> queued = callers.submit(() -> db.write(DbTest::addThreadWithoutMemory));
            gate.countDown();
            first.get();
            assertThatThrownBy(queued::get).isInstanceOf(ExecutionException.class);

            assertThat(addThread(db, "t1")).isEqualTo(1);
            assertThat(threads(db)).isEqualTo(1);
        }
    }

    private static int addThreadWithoutMemory(Sql sql) throws SQLException {
        sql.update(INSERT, "lost", "u", 0L);
        throw new OutOfMemoryError("no room");
    }

    @Test
    void closedStoreRejectsReadsAndWrites() {
        Db db = open();
        db.close();
        db.close();
        assertStoreFailed(() -> addThread(db, "t1"));
        assertStoreFailed(() -> threads(db));
    }

    @Test
    void concurrentAcknowledgedWritesAreStored() throws Exception {
        try (Db db = open();
                var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            var writes = IntStream.range(0, 1000)
                    .mapToObj(i -> callers.submit(() -> addThread(db, "t" + i)))
                    .toList();
            for (var write : writes) {
                write.get();
            }
            assertThat(threads(db)).isEqualTo(1000);
        }
    }

    @Test
    void interruptedCallerStillLearnsTheOutcomeOfItsWrite() {
        try (Db db = open()) {
            Thread.currentThread().interrupt();
            assertThat(addThread(db, "t1")).isEqualTo(1);
            assertThat(Thread.interrupted()).isTrue();
            Thread.currentThread().interrupt();
            int added = db.writeHere(sql -> sql.update(INSERT, "t2", "u", 0L));
            assertThat(added).isEqualTo(1);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void migrationsRunOnceAndEveryFileIsListed() throws Exception {
        open().close();
        try (Db db = open()) {
            int rows = db.read(sql -> sql.first("select count(*) from schema_version", row -> row.getInt(1))
                    .orElseThrow());
            assertThat(rows).isEqualTo(Migrations.FILES.size());
        }
        Path resources = Path.of(
                Migrations.class.getResource(Migrations.FILES.getFirst()).toURI());
        try (var files = Files.list(resources.getParent())) {
            assertThat(files.map(path -> path.getFileName().toString()).filter(name -> name.endsWith(".sql")))
                    .containsExactlyInAnyOrderElementsOf(Migrations.FILES);
        }
        for (int i = 0; i < Migrations.FILES.size(); i++) {
            assertThat(Migrations.FILES.get(i)).startsWith("V" + (i + 1) + "__");
        }
    }

    private Db open() {
        return Db.sqlite(home.resolve("viv.db"));
    }

    private static int addThread(Db db, String thread) {
        return db.write(sql -> sql.update(INSERT, thread, "u", 0L));
    }

    private static int threads(Db db) {
        return db.read(sql ->
                sql.first("select count(*) from threads", row -> row.getInt(1)).orElseThrow());
    }

    private static void assertStoreFailed(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        var thrown = catchThrowableOfType(SandboxException.class, call);
        assertThat(thrown.failure()).isInstanceOf(Failure.StoreFailed.class);
    }

    static void awaitQuietly(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
