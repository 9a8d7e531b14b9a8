package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.Egress;
import dev.vivarium.model.End;
import dev.vivarium.model.Limits;
import dev.vivarium.model.OnIdle;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Contract of the sandbox rows on every database.
abstract class SandboxRowsContract {
    private static final Instant NOW = Instant.parse("2026-01-01T10:00:00Z");
    private static final UserId ANN = new UserId("ann");
    private static final ThreadId NAME = new ThreadId("t 1/ö");
    private static final ThreadKey THREAD = new ThreadKey(ANN, NAME);

    private final Random random = new Random(1);
    private Db db;
    private SandboxRows rows;

    /// Returns the database of this test, the same one each time.
    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
        rows = new SandboxRows(db);
    }

    @AfterEach
    void close() {
        db.close();
    }

    @Test
    void rowIsReadBackUnchanged() {
        SandboxRow row = row(Optional.of(THREAD), Phase.CREATING);
        rows.insert(row);
        assertThat(rows.find(row.id())).contains(row);
        assertThat(rows.alive()).containsExactly(row);
        assertThat(rows.hasThread(THREAD)).isTrue();
        assertThat(rows.ownersOf(NAME)).containsExactly(ANN);
    }

    @Test
    void usersHaveThreadsOfTheSameName() {
        var ofBob = new ThreadKey(new UserId("bob"), NAME);
        SandboxRow first = row(Optional.of(THREAD), Phase.RUNNING);
        rows.insert(first);
        assertThat(rows.hasThread(ofBob)).isFalse();
        SandboxRow second = row(Optional.of(ofBob), Phase.RUNNING);
        rows.insert(second);
        assertThat(rows.find(first.id()).orElseThrow().owner()).contains(THREAD);
        assertThat(rows.find(second.id()).orElseThrow().owner()).contains(ofBob);
        assertThat(rows.ownersOf(NAME)).containsExactly(ANN, ofBob.user());
    }

    @Test
    void threadStaysKnownAfterItsSandboxesArePruned() {
        SandboxRow row = row(Optional.of(THREAD), Phase.RUNNING);
        rows.insert(row);
        rows.end(row.id(), Phase.TERMINATED, new End(End.Cause.USER, "", NOW));
        rows.prune(NOW.plusSeconds(1));
        assertThat(rows.hasThread(THREAD)).isTrue();
    }

    @Test
    void firstEndIsFinal() {
        SandboxRow row = row(Optional.of(THREAD), Phase.RUNNING);
        rows.insert(row);
        var end = new End(End.Cause.OOM, "out of memory", NOW);
        assertThat(rows.end(row.id(), Phase.FAILED, end)).isTrue();
        assertThat(rows.end(row.id(), Phase.TERMINATED, new End(End.Cause.USER, "", NOW)))
                .isFalse();
        assertThat(rows.phase(row.id(), Phase.RUNNING)).isFalse();
        rows.lastActivity(Map.of(row.id(), NOW.plusSeconds(9)));
        SandboxRow kept = rows.find(row.id()).orElseThrow();
        assertThat(kept.end()).contains(end);
        assertThat(kept.phase()).isEqualTo(Phase.FAILED);
        assertThat(kept.lastActivity()).isEqualTo(NOW);
        assertThat(rows.alive()).isEmpty();
    }

    @Test
    void pooledMachineIsHandedOutOnce() {
        SandboxRow pooled = row(Optional.empty(), Phase.POOLED);
        rows.insert(pooled);
        SandboxRow owned = new SandboxRow(
                pooled.id(),
                Optional.of(THREAD),
                Phase.RUNNING,
                pooled.image(),
                pooled.secret(),
                pooled.limits(),
                Map.of("A", "1"),
                Egress.of("egress", List.of("example.com", "*.example.org:8443")),
                Duration.ofMinutes(5),
                OnIdle.HIBERNATE,
                NOW,
                NOW,
                NOW.plusSeconds(60),
                Optional.empty());
        assertThat(rows.handOut(owned)).isTrue();
        assertThat(rows.handOut(owned)).isFalse();
        assertThat(rows.find(pooled.id())).contains(owned);
        rows.forgetUnowned(pooled.id());
        assertThat(rows.find(pooled.id())).isPresent();
    }

    @Test
    void egressListIsStored() {
        SandboxRow row = row(Optional.of(THREAD), Phase.RUNNING);
        rows.insert(row);
        var list = Egress.of("egress", List.of("example.com", "[2606:4700::1111]:443", "*.example.org:*"));
        rows.egress(row.id(), list);
        assertThat(rows.find(row.id()).orElseThrow().egress()).isEqualTo(list);
    }

    @Test
    void endedRowsArePrunedByAge() {
        SandboxRow row = row(Optional.of(THREAD), Phase.RUNNING);
        rows.insert(row);
        rows.end(row.id(), Phase.TERMINATED, new End(End.Cause.IDLE, "", NOW));
        assertThat(rows.prune(NOW)).isZero();
        assertThat(rows.prune(NOW.plusMillis(1))).isEqualTo(1);
    }

    @Test
    void environmentIsEncryptedAndDeletedWithTheSandbox() {
        SandboxRow row = row(Optional.of(THREAD), Phase.RUNNING);
        rows.insert(row);
        assertThat(storedEnv(row)).startsWith("sealed:").doesNotContain("EMPTY");
        rows.end(row.id(), Phase.TERMINATED, new End(End.Cause.USER, "", NOW));
        assertThat(storedEnv(row)).isEmpty();
    }

    @Test
    void environmentOfAnotherSandboxIsNotDecrypted() {
        SandboxRow row = row(Optional.of(THREAD), Phase.RUNNING);
        SandboxRow other = row(Optional.of(new ThreadKey(ANN, new ThreadId("t2"))), Phase.RUNNING);
        rows.insert(row);
        rows.insert(other);
        storeEnv(other, storedEnv(row));
        assertThat(rows.find(other.id()).orElseThrow().env()).isEmpty();
    }

    @Test
    void plainEnvironmentsOfAnEarlierVersionAreEncryptedAtTheNextStart() {
        SandboxRow row = row(Optional.of(THREAD), Phase.RUNNING);
        SandboxRow ended = row(Optional.of(new ThreadKey(ANN, new ThreadId("t2"))), Phase.RUNNING);
        rows.insert(row);
        rows.insert(ended);
        rows.end(ended.id(), Phase.TERMINATED, new End(End.Cause.USER, "", NOW));
        storeEnv(row, EnvText.encode(row.env()));
        storeEnv(ended, EnvText.encode(ended.env()));
        close();
        open();
        assertThat(storedEnv(row)).startsWith("sealed:");
        assertThat(storedEnv(ended)).isEmpty();
        assertThat(rows.find(row.id())).contains(row);
    }

    private String storedEnv(SandboxRow row) {
        return db.read(sql -> sql.first(
                        "select env from sandboxes where id = ?",
                        columns -> columns.getString(1),
                        row.id().value())
                .orElseThrow());
    }

    private void storeEnv(SandboxRow row, String text) {
        db.write(sql -> sql.update(
                "update sandboxes set env = ? where id = ?", text, row.id().value()));
    }

    private SandboxRow row(Optional<ThreadKey> owner, Phase phase) {
        return new SandboxRow(
                SandboxId.random(random),
                owner,
                phase,
                "host",
                "secret",
                Limits.STANDARD,
                Map.of("A&B", "x=y&z ö\n", "EMPTY", ""),
                Egress.NONE,
                Duration.ofMinutes(30),
                OnIdle.END,
                NOW,
                NOW,
                NOW.plusSeconds(3600),
                Optional.empty());
    }
}
