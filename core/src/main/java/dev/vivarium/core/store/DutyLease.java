package dev.vivarium.core.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/// Lease on a duty, such as that of the orchestrator, which one server performs at a time. Thread-safe.
///
/// The lease is a row with a fencing number, which grows each time that the lease is taken. [#hold] takes the lease if
/// it is free, expired, or left by an earlier process of the same server, and renews it afterwards. Every change that
/// belongs to the duty goes through [#write] or calls [#check], which fail with [Superseded] in the same transaction if
/// another server has taken the lease meanwhile.
///
/// The times of several servers are compared. If their clocks differ, a take-over may come early or late, and the
/// fencing number still prevents that two servers change the same data.
public final class DutyLease {
    private final Db db;
    private final String duty;
    private final String holder;
    private final Duration ttl;
    private final InstantSource clock;

    /// The number of the lease that this object took, or zero.
    @GuardedBy("this")
    private long fencing;

    /// Null if this object does not hold the lease.
    @GuardedBy("this")
    private @Nullable Instant renewedAt;

    /// @param holder name of the server. Two running servers must not have the same name
    /// @param ttl    time after which another server may take a lease that is not renewed
    public DutyLease(Db db, String duty, String holder, Duration ttl, InstantSource clock) {
        this.db = db;
        this.duty = duty;
        this.holder = holder;
        this.ttl = ttl;
        this.clock = clock;
    }

    /// Takes or renews the lease, and reports whether this server holds it. Call it more often than the time to
    /// live requires: it uses the store only if a third of that time has passed.
    public synchronized boolean hold() {
        Instant now = clock.instant();
        if (renewedAt == null || now.isBefore(renewedAt) || !now.isBefore(renewedAt.plus(ttl.dividedBy(3)))) {
            long known = fencing;
            fencing = db.write(sql -> known > 0 && isRenewed(sql, known, now) ? known : taken(sql, now));
            renewedAt = fencing > 0 ? now : null;
        }
        return fencing > 0;
    }

    /// Returns the fencing number of the lease. Fails with [Superseded] if this server does not hold the lease.
    public synchronized long fencing() {
        if (fencing == 0) {
            throw new Superseded(duty);
        }
        return fencing;
    }

    /// Runs an atomic change that belongs to the duty. Fails with [Superseded], and changes nothing, if another
    /// server has taken the lease.
    public <T extends @Nullable Object> T write(SqlFunction<T> change) {
        long number = fencing();
        return db.write(sql -> {
            check(sql, number);
            return change.apply(sql);
        });
    }

    /// Fails with [Superseded] if another server has taken the lease. No server can take it before the transaction
    /// of the caller ends.
    public void check(Sql sql) throws SQLException {
        check(sql, fencing());
    }

    /// The update locks the row. PostgreSQL would let another transaction change a row that was only read.
    private void check(Sql sql, long number) throws SQLException {
        int rows = sql.update("update duty_leases set fencing = fencing where duty = ? and fencing = ?", duty, number);
        if (rows == 0) {
            throw new Superseded(duty);
        }
    }

    /// Gives the lease up, so that another server can take it at once. Idempotent.
    public synchronized void release() {
        long number = fencing;
        fencing = 0;
        renewedAt = null;
        if (number > 0) {
            db.write(sql ->
                    sql.update("update duty_leases set expires_at = 0 where duty = ? and fencing = ?", duty, number));
        }
    }

    private boolean isRenewed(Sql sql, long number, Instant now) throws SQLException {
        return sql.update(
                        "update duty_leases set expires_at = ? where duty = ? and fencing = ?",
                        now.plus(ttl).toEpochMilli(),
                        duty,
                        number)
                > 0;
    }

    /// Returns the new fencing number, or zero if another server holds the lease.
    private long taken(Sql sql, Instant now) throws SQLException {
        int rows = sql.update(
                "insert into duty_leases (duty, holder, fencing, expires_at) values (?, ?, 1, ?)"
                        + " on conflict (duty) do update set holder = excluded.holder,"
                        + " fencing = duty_leases.fencing + 1, expires_at = excluded.expires_at"
                        + " where duty_leases.holder = excluded.holder or duty_leases.expires_at <= ?",
                duty,
                holder,
                now.plus(ttl).toEpochMilli(),
                now.toEpochMilli());
        return rows == 0 ? 0 : sql.number("select fencing from duty_leases where duty = ?", duty);
    }

    /// Refusal of a change, because another server has taken over the duty. Immutable.
    public static final class Superseded extends RuntimeException {
        private static final long serialVersionUID = 1;

        Superseded(String duty) {
            super("another server has taken over the duty of the " + duty);
        }
    }
}
