package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditTest {
    private static final ThreadKey THREAD = thread("anna", "thread");
    private static final Instant NOW = Instant.parse("2026-01-01T10:00:00Z");

    /// Matches every entry; returns the newest.
    private static final AuditQuery ALL = numbered(Optional.empty());

    @TempDir
    Path home;

    private Db db;
    private Audit audit;

    @BeforeEach
    void open() {
        db = Db.sqlite(home.resolve("store.db"));
        audit = new Audit(db, 1_000_000);
    }

    @AfterEach
    void close() {
        audit.close();
        db.close();
    }

    @Test
    void entryIsReadBackUnchanged() {
        var entry = AuditEntry.of(NOW, AuditEntry.Kind.ISSUED, 200, "POST /x")
                .by(new Principal.User(new UserId("anna")))
                .on(new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa"), THREAD)
                .token("tok_1", Scopes.parse("fs:rw shell"))
                .detail("for anna");

        audit.record(entry);

        assertThat(audit.list(ALL.ofThread(THREAD), 10)).containsExactly(new Audit.Numbered(1, entry, 1, NOW));
    }

    @Test
    void pagesListEntriesInOrderWithoutGaps() {
        for (int i = 0; i < 2500; i++) {
            audit.record(used(i));
        }
        assertThat(numbers(audit.list(numbered(Optional.of(0L)), 1000)))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 1000).boxed().toList());
        assertThat(numbers(audit.list(numbered(Optional.of(2490L)), 1000)))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(2491, 2500).boxed().toList());
        assertThat(numbers(audit.list(ALL, 3))).containsExactly(2498L, 2499L, 2500L);
        assertThat(audit.dropped()).isZero();
    }

    @Test
    void numbersContinueAfterARestart() {
        audit.record(used(1));
        audit.close();
        audit = new Audit(db, 1_000_000);
        audit.record(used(2));

        assertThat(numbers(audit.list(ALL, 10))).containsExactly(1L, 2L);
    }

    @Test
    void threadFilterListsOnlyEntriesOfTheThread() {
        audit.record(used(1).onThread(THREAD));
        audit.record(used(2).onThread(thread("anna", "another")));
        audit.record(used(3).onThread(thread("bob", "thread")));

        assertThat(numbers(audit.list(ALL.ofThread(THREAD), 10))).containsExactly(1L);
    }

    @Test
    void entryAfterCloseIsCountedAsDropped() {
        audit.close();
        audit.record(used(1));

        assertThat(audit.dropped()).isOne();
    }

    @Test
    void entriesAreBufferedWhileTheStoreFails() {
        int ignored = db.write(sql -> sql.update(
                "create trigger broken before insert on audit begin select raise(abort, 'broken by the test'); end"));
        audit.record(used(1));
        audit.record(used(2));
        await().until(() -> db.read(sql -> sql.first("select count(*) from audit", row -> row.getInt(1)))
                .equals(Optional.of(0)));
        int mended = db.write(sql -> sql.update("drop trigger broken"));
        audit.record(used(3));

        assertThat(numbers(audit.list(ALL, 10))).containsExactly(1L, 2L, 3L);
        assertThat(audit.dropped()).isZero();
    }

    private static ThreadKey thread(String owner, String name) {
        return new ThreadKey(new UserId(owner), new ThreadId(name));
    }

    @Test
    void floodOfOnePrincipalDropsNothingAndFoldsItsReads() {
        int ignored = db.write(sql -> sql.update(
                "create trigger broken before insert on audit begin select raise(abort, 'broken by the test'); end"));
        for (int i = 0; i < 50_000; i++) {
            audit.record(by("mallory", "GET /x").onThread(new ThreadId("thread-" + i % 3000)));
        }
        for (int i = 0; i < 100; i++) {
            audit.record(by("anna", "POST /execute"));
        }
        int mended = db.write(sql -> sql.update("drop trigger broken"));

        assertThat(audit.list(of("anna"), 1000)).hasSize(100);
        assertThat(audit.list(of("mallory"), 5000).stream()
                        .mapToLong(Audit.Numbered::count)
                        .sum())
                .isEqualTo(50_000);
        assertThat(audit.list(of("mallory"), 5000)).hasSizeLessThan(5000);
        assertThat(audit.dropped()).isZero();
    }

    @Test
    void changesBeyondTheShareOfAPrincipalAreKept() {
        for (int i = 0; i < 5 * AuditQueue.SHARE; i++) {
            audit.record(by("anna", "POST /execute"));
        }

        assertThat(audit.list(of("anna"), 10_000)).hasSize(5 * AuditQueue.SHARE);
    }

    @Test
    void readIsFoldedIntoTheRecentRowOnly() {
        audit.record(by("anna", "GET /x"));
        assertThat(audit.list(ALL, 10)).hasSize(1);
        audit.record(by("anna", "GET /x"));
        assertThat(audit.list(ALL, 10)).extracting(Audit.Numbered::count).containsExactly(2L);
        audit.record(AuditEntry.of(NOW.plusSeconds(61), AuditEntry.Kind.USED, 200, "GET /x")
                .by(new Principal.User(new UserId("anna"))));

        assertThat(audit.list(ALL, 10)).extracting(Audit.Numbered::count).containsExactly(2L, 1L);
    }

    @Test
    void retentionDeletesOnlyEntriesOfThePrincipalWithTheMost() {
        audit.close();
        audit = new Audit(db, 200);
        for (int i = 0; i < 50; i++) {
            audit.record(by("anna", "POST /execute"));
        }
        for (int i = 0; i < 1500; i++) {
            audit.record(by("mallory", "POST /execute"));
        }

        assertThat(audit.list(of("anna"), 1000)).hasSize(50);
        await().untilAsserted(() -> assertThat(audit.list(of("mallory"), 2000)).hasSizeBetween(150, 150 + 1024));
    }

    @Test
    void principalsShareTheLogFairly() {
        assertThat(AuditRows.fairShare(List.of(10L, 20L, 1000L), 130)).isEqualTo(100);
        assertThat(AuditRows.fairShare(List.of(500L, 500L), 100)).isEqualTo(50);
        assertThat(AuditRows.fairShare(List.of(10L, 20L), 100)).isEqualTo(100);
    }

    private static AuditEntry by(String user, String route) {
        return AuditEntry.of(NOW, AuditEntry.Kind.USED, 200, route).by(new Principal.User(new UserId(user)));
    }

    private static AuditQuery of(String user) {
        return new AuditQuery(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(new UserId(user)),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static AuditEntry used(int outcome) {
        return AuditEntry.of(NOW, AuditEntry.Kind.USED, outcome, "GET /x");
    }

    private static List<Long> numbers(List<Audit.Numbered> entries) {
        return entries.stream().map(Audit.Numbered::seq).toList();
    }

    private static AuditQuery numbered(Optional<Long> after) {
        return new AuditQuery(
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                after,
                Optional.empty());
    }
}
