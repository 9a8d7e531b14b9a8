package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.vivarium.core.store.SandboxRow.Owner;
import dev.vivarium.core.store.SandboxRow.Phase;
import dev.vivarium.model.Egress;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Limits;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
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
    private static final ThreadId THREAD = new ThreadId("t 1/ö");
    private static final UserId ANN = new UserId("ann");

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
        SandboxRow row = row(Optional.of(new Owner(THREAD, ANN)), Phase.CREATING);
        rows.insert(row);
        assertThat(rows.find(row.id())).contains(row);
        assertThat(rows.alive()).containsExactly(row);
        assertThat(rows.ownerOf(THREAD)).contains(ANN);
    }

    @Test
    void threadKeepsItsFirstUserAfterItsSandboxesArePruned() {
        SandboxRow first = row(Optional.of(new Owner(THREAD, ANN)), Phase.RUNNING);
        rows.insert(first);
        rows.end(first.id(), Phase.TERMINATED, new End(End.Cause.USER, "", NOW));
        rows.prune(NOW.plusSeconds(1));
        SandboxRow rowOfBob = row(Optional.of(new Owner(THREAD, new UserId("bob"))), Phase.CREATING);
        var thrown = catchThrowableOfType(SandboxException.class, () -> rows.insert(rowOfBob));
        assertThat(thrown.failure()).isEqualTo(new Failure.NoSandboxForThread(THREAD));
        assertThat(rows.find(rowOfBob.id())).isEmpty();
    }

    @Test
    void firstEndIsFinal() {
        SandboxRow row = row(Optional.of(new Owner(THREAD, ANN)), Phase.RUNNING);
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
                Optional.of(new Owner(THREAD, ANN)),
                Phase.RUNNING,
                pooled.image(),
                pooled.secret(),
                pooled.limits(),
                Map.of("A", "1"),
                Egress.of("egress", List.of("example.com", "*.example.org:8443")),
                Duration.ofMinutes(5),
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
        SandboxRow row = row(Optional.of(new Owner(THREAD, ANN)), Phase.RUNNING);
        rows.insert(row);
        var list = Egress.of("egress", List.of("example.com", "[2606:4700::1111]:443", "*.example.org:*"));
        rows.egress(row.id(), list);
        assertThat(rows.find(row.id()).orElseThrow().egress()).isEqualTo(list);
    }

    @Test
    void endedRowsArePrunedByAge() {
        SandboxRow row = row(Optional.of(new Owner(THREAD, ANN)), Phase.RUNNING);
        rows.insert(row);
        rows.end(row.id(), Phase.TERMINATED, new End(End.Cause.IDLE, "", NOW));
        assertThat(rows.prune(NOW)).isZero();
        assertThat(rows.prune(NOW.plusMillis(1))).isEqualTo(1);
    }

    private SandboxRow row(Optional<Owner> owner, Phase phase) {
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
                NOW,
                NOW,
                NOW.plusSeconds(3600),
                Optional.empty());
    }
}
