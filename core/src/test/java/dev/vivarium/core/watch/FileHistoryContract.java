package dev.vivarium.core.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.log.EventLog;
import dev.vivarium.core.log.Retention;
import dev.vivarium.core.store.Db;
import dev.vivarium.core.watch.FileHistory.Moment;
import dev.vivarium.core.watch.FileHistory.Step;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.NewEvent;
import dev.vivarium.model.SandboxId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Contract of the file history on every database.
abstract class FileHistoryContract {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00.123456789Z");

    private final SandboxId sandbox = SandboxId.random(new Random(1));
    private Db db;
    private EventLog log;
    private FileHistory history;

    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
        log = new EventLog(db, InstantSource.fixed(NOON), new EventBodyJson());
        history = new FileHistory(db);
    }

    @AfterEach
    void close() {
        log.close();
        db.close();
    }

    @Test
    void versionIsValidUntilTheNextEventOfItsPath() {
        Version one = write("a", "file.created", Optional.empty(), Optional.of("one"));
        append("agent.note");
        Version two = write("a", "file.modified", Optional.of(one), Optional.of("two €"));
        write("a", "file.deleted", Optional.of(two), Optional.empty());

        assertThat(history.at(sandbox, "a", 0)).isEqualTo(new Moment.Nothing());
        assertThat(history.at(sandbox, "a", 2)).isEqualTo(new Moment.There(one));
        assertThat(history.at(sandbox, "a", 3)).isEqualTo(new Moment.There(two));
        assertThat(history.at(sandbox, "a", 4)).isEqualTo(new Moment.Nothing());
        assertThat(history.current(sandbox)).isEmpty();
        assertThat(history.lastSeq(sandbox)).isEqualTo(4);
    }

    @Test
    void unknownContentIsNotReportedAsAbsent() {
        Version unknown = write("b", "file.changes_folded", Optional.empty(), Optional.empty(), true);
        write("b", "file.modified", Optional.of(unknown), Optional.of("text"));

        assertThat(history.at(sandbox, "b", 1)).isEqualTo(new Moment.Forgotten());
    }

    @Test
    void currentVersionsAreFoundByPathAndDirectory() {
        for (String path : List.of("d", "d/a", "d/ä€/b", "d2/c")) {
            write(path, "file.created", Optional.empty(), Optional.of(path));
        }

        assertThat(history.current(sandbox, List.of("d/a", "nowhere")))
                .extracting(version -> version.content().orElseThrow())
                .containsExactly("d/a");
        assertThat(history.below(sandbox, "d")).extracting(Version::path).containsExactlyInAnyOrder("d/a", "d/ä€/b");
        assertThat(history.current(sandbox))
                .hasSize(4)
                .allSatisfy(v -> assertThat(v.modified()).isEqualTo(NOON));
    }

    @Test
    void versionsArePrunedWithTheirEvents() {
        Version one = write("a", "file.created", Optional.empty(), Optional.of("one"));
        write("a", "file.modified", Optional.of(one), Optional.of("two"));
        append("agent.note");
        assertThat(history.prune()).isZero();

        log.prune(new Retention(Duration.ofDays(1), 1), InstantSource.fixed(NOON));
        history.prune();

        assertThat(history.characters(sandbox)).isZero();
    }

    @Test
    void oldestVersionsAreDeletedAtTheLimit() {
        Version last = write("a", "file.created", Optional.empty(), Optional.of("x".repeat(100_000)));
        for (int i = 0; i < 100; i++) {
            last = write("a", "file.modified", Optional.of(last), Optional.of(i + "x".repeat(100_000)));
        }
        long remaining = history.makeRoom(sandbox, history.characters(sandbox));

        assertThat(remaining).isBetween(4_000_000L, 6_000_000L);
        assertThat(history.at(sandbox, "a", 1)).isEqualTo(new Moment.Forgotten());
        assertThat(history.at(sandbox, "a", 101)).isEqualTo(new Moment.There(last));
    }

    private long append(String type) {
        return log.append(sandbox, NewEvent.of(type, "{}", "test")).event().seq();
    }

    private Version write(String path, String type, Optional<Version> before, Optional<String> content) {
        return write(path, type, before, content, content.isPresent());
    }

    private Version write(
            String path, String type, Optional<Version> before, Optional<String> content, boolean isThere) {
        long seq = append(type);
        var version = new Version(path, FileEntry.Type.FILE, 3, NOON, Optional.of("hash"), content, seq);
        history.write(sandbox, List.of(new Step(before, isThere ? Optional.of(version) : Optional.empty(), seq)));
        return version;
    }
}
