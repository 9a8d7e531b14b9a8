package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.store.Db;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
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
    private static final ThreadId THREAD = new ThreadId("thread");
    private static final Instant NOW = Instant.parse("2026-01-01T10:00:00Z");

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

        assertThat(audit.list(AuditQuery.ALL.ofThread(THREAD), 10)).containsExactly(new Audit.Numbered(1, entry));
    }

    @Test
    void pagesListEntriesInOrderWithoutGaps() {
        for (int i = 0; i < 2500; i++) {
            audit.record(used(i));
        }
        assertThat(numbers(audit.list(AuditQuery.ALL.since(0L), 1000)))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 1000).boxed().toList());
        assertThat(numbers(audit.list(AuditQuery.ALL.since(2490L), 1000)))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(2491, 2500).boxed().toList());
        assertThat(numbers(audit.list(AuditQuery.ALL, 3))).containsExactly(2498L, 2499L, 2500L);
        assertThat(audit.dropped()).isZero();
    }

    @Test
    void numbersContinueAfterARestart() {
        audit.record(used(1));
        audit.close();
        audit = new Audit(db, 1_000_000);
        audit.record(used(2));

        assertThat(numbers(audit.list(AuditQuery.ALL, 10))).containsExactly(1L, 2L);
    }

    @Test
    void threadFilterListsOnlyEntriesOfTheThread() {
        audit.record(used(1).onThread(THREAD));
        audit.record(used(2).onThread(new ThreadId("another")));

        assertThat(numbers(audit.list(AuditQuery.ALL.ofThread(THREAD), 10))).containsExactly(1L);
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

        assertThat(numbers(audit.list(AuditQuery.ALL, 10))).containsExactly(1L, 2L, 3L);
        assertThat(audit.dropped()).isZero();
    }

    private static AuditEntry used(int outcome) {
        return AuditEntry.of(NOW, AuditEntry.Kind.USED, outcome, "GET /x");
    }

    private static List<Long> numbers(List<Audit.Numbered> entries) {
        return entries.stream().map(Audit.Numbered::seq).toList();
    }
}
