package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.core.store.DutyLease.Superseded;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Cases of the duty lease, which every database passes.
abstract class DutyLeaseContract {
    private static final Duration TTL = Duration.ofSeconds(30);

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-08-01T12:00:00Z"));
    private Db db;

    abstract Db openDb();

    @BeforeEach
    void open() {
        db = openDb();
    }

    @AfterEach
    void close() {
        db.close();
    }

    private DutyLease lease(String holder) {
        return new DutyLease(db, "guardian", holder, TTL, now::get);
    }

    private void pass(Duration time) {
        now.updateAndGet(at -> at.plus(time));
    }

    private static String owner(Sql sql) throws SQLException {
        return sql.first("select holder from duty_leases where duty = 'guardian'", row -> row.getString(1))
                .orElseThrow();
    }

    @Test
    void oneServerHoldsTheLease() {
        var first = lease("a");
        var second = lease("b");

        assertThat(first.hold()).isTrue();
        assertThat(second.hold()).isFalse();
        assertThat(first.write(DutyLeaseContract::owner)).isEqualTo("a");
    }

    @Test
    void aServerThatDoesNotHoldTheLeaseWritesNothing() {
        var first = lease("a");
        var second = lease("b");
        first.hold();
        second.hold();

        assertThatThrownBy(() -> second.write(sql -> sql.update("update duty_leases set holder = 'x'")))
                .isInstanceOf(Superseded.class);
        assertThat(db.<String>read(DutyLeaseContract::owner)).isEqualTo("a");
    }

    @Test
    void aRenewedLeaseDoesNotExpire() {
        var first = lease("a");
        first.hold();
        long number = first.fencing();
        for (int i = 0; i < 5; i++) {
            pass(TTL.minusSeconds(1));
            assertThat(first.hold()).isTrue();
        }

        assertThat(lease("b").hold()).isFalse();
        assertThat(first.fencing()).isEqualTo(number);
    }

    @Test
    void theFencingNumberGrowsAtEachTakeOver() {
        var first = lease("a");
        var second = lease("b");
        first.hold();
        pass(TTL);
        assertThat(second.hold()).isTrue();
        assertThat(second.fencing()).isEqualTo(first.fencing() + 1);

        second.release();
        pass(TTL);
        long last = first.fencing();
        assertThat(first.hold()).isTrue();
        assertThat(first.fencing()).isEqualTo(last + 2);
    }

    @Test
    void theWritesOfASupersededHolderAreRolledBack() {
        var first = lease("a");
        first.hold();
        pass(TTL);
        lease("b").hold();

        assertThatThrownBy(() -> first.write(sql -> sql.update("update duty_leases set holder = 'x'")))
                .isInstanceOf(Superseded.class);
        assertThatThrownBy(() -> db.write(sql -> {
                    sql.update("update duty_leases set holder = 'x'");
                    first.check(sql);
                    return true;
                }))
                .isInstanceOf(Superseded.class);
        assertThat(db.<String>read(DutyLeaseContract::owner)).isEqualTo("b");
    }

    @Test
    void aSupersededHolderNoticesAtItsNextRenewal() {
        var first = lease("a");
        first.hold();
        pass(TTL);
        lease("b").hold();

        assertThat(first.hold()).isFalse();
        assertThatThrownBy(first::fencing).isInstanceOf(Superseded.class);
    }

    @Test
    void anExpiredLeaseThatNobodyTookIsRenewedWithItsNumber() {
        var first = lease("a");
        first.hold();
        long number = first.fencing();
        pass(TTL.multipliedBy(10));

        assertThat(first.write(DutyLeaseContract::owner)).isEqualTo("a");
        assertThat(first.hold()).isTrue();
        assertThat(first.fencing()).isEqualTo(number);
    }

    @Test
    void aRestartedServerTakesItsLeaseAtOnceWithANewNumber() {
        var killed = lease("a");
        killed.hold();
        var restarted = lease("a");

        assertThat(restarted.hold()).isTrue();
        assertThatThrownBy(() -> killed.write(DutyLeaseContract::owner)).isInstanceOf(Superseded.class);
        assertThat(restarted.write(DutyLeaseContract::owner)).isEqualTo("a");
    }

    @Test
    void aReleasedLeaseIsFreeAtOnce() {
        var first = lease("a");
        first.hold();
        first.release();
        first.release();

        assertThat(lease("b").hold()).isTrue();
        assertThatThrownBy(() -> first.write(DutyLeaseContract::owner)).isInstanceOf(Superseded.class);
    }

    @Test
    void aClockThatJumpsBackDoesNotLoseTheLease() {
        var first = lease("a");
        first.hold();
        pass(Duration.ofDays(-1));

        assertThat(first.hold()).isTrue();
        pass(TTL);
        assertThat(lease("b").hold()).isTrue();
    }

    @Test
    void theLeaseOfAnotherDutyIsIndependent() {
        var first = lease("a");
        first.hold();
        var other = new DutyLease(db, "conductor", "b", TTL, now::get);

        assertThat(other.hold()).isTrue();
        assertThat(first.hold()).isTrue();
    }
}
