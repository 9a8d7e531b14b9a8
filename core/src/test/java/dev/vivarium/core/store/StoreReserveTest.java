package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.testbed.SmallFileSystem;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The store on a full file system. Needs root.
@Tag("root")
class StoreReserveTest {
    private static final String INSERT = "insert into threads (thread_id, user_id, created_at) values (?, ?, ?)";
    private static final long RESERVE = 8L << 20;

    private SmallFileSystem disk;

    @BeforeEach
    void make() {
        disk = SmallFileSystem.make(128);
    }

    @AfterEach
    void remove() {
        disk.close();
    }

    @Test
    void storeWithoutAReserveFailsOnAFullDisk() {
        try (Db db = Db.sqlite(disk.root().resolve("viv.db"))) {
            disk.fill();
            var failed = catchThrowableOfType(SandboxException.class, () -> addAll(db, 0));
            assertThat(failed.failure()).isInstanceOf(Failure.StoreFailed.class);
        }
    }

    @Test
    void storeWithAReserveWritesOnAFullDisk() {
        long before = disk.freeBytes();
        try (Db db = Db.sqlite(disk.root().resolve("viv.db"))) {
            db.reserve(RESERVE);
            await().until(() -> disk.freeBytes() < before - RESERVE);
            disk.fill();
            assertThat(disk.freeBytes()).isLessThan(1 << 20);
            addAll(db, 0);
            assertThat(count(db)).isEqualTo(100);
        }
        try (Db db = Db.sqlite(disk.root().resolve("viv.db"))) {
            assertThat(count(db)).isEqualTo(100);
            disk.drain();
            addAll(db, 100);
            assertThat(count(db)).isEqualTo(200);
        }
    }

    /// Writes about 5 MB of write-ahead log.
    private static void addAll(Db db, int first) {
        for (int i = first; i < first + 100; i++) {
            String thread = "t" + i + "x".repeat(4000);
            db.write(sql -> sql.update(INSERT, thread, "u", 0L));
        }
    }

    private static int count(Db db) {
        return db.read(sql -> sql.first("select count(*) from threads", row -> row.getInt(1)))
                .orElseThrow();
    }
}
