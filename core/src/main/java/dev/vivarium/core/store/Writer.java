package dev.vivarium.core.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.vivarium.core.GroupQueue;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Single writer of the database, with group commit. Thread-safe.
///
/// If the writer is idle, the caller commits its change itself. Other changes queue for a worker thread, which runs all
/// of them in one transaction and completes the callers after the commit.
///
/// A hand-over to the worker and back costs a quarter of a commit, so it is made only where it yields a group. A
/// committing caller occupies its carrier during the disk write, because SQLite is native code that pins a virtual
/// thread. Only one caller commits at a time. On a machine with one processor the worker makes all commits.
///
/// In a group, each change has a savepoint of its own: a failed change is rolled back alone and the rest commits. If
/// the commit itself fails, the whole group is rolled back and every caller gets the failure.
final class Writer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Writer.class);
    private static final int QUEUE = 4096;
    private static final int GROUP = 512;
    private static final String CLOSED = "it is closed";
    private static final boolean CALLERS_COMMIT = Runtime.getRuntime().availableProcessors() > 1;

    private final Connector connector;
    private final Duration timeout;
    private final GroupQueue<Pending<?>> queue;

    /// The holder writes. Fair, so that callers that find it free do not starve the worker's group.
    private final ReentrantLock writeLock = new ReentrantLock(true);

    /// Absent at first, and after a failure that the connection could not recover from.
    @GuardedBy("writeLock")
    private @Nullable Sql sql;

    Writer(Connector connector, Duration timeout) {
        this.connector = connector;
        this.timeout = timeout;
        this.queue = new GroupQueue<>("store-writer", QUEUE, GROUP, this::commitGroup);
    }

    /// Opens a connection with automatic commits off.
    @FunctionalInterface
    interface Connector {
        Connection connect() throws SQLException;
    }

    /// Runs `work`, alone or in the next group, and returns after the commit. Waits for other writes at most twice
    /// the timeout.
    <T extends @Nullable Object> T write(SqlFunction<T> work) {
        var pending = new Pending<T>(work);
        if (CALLERS_COMMIT && queue.isEmpty() && tryLock(Duration.ZERO)) {
            commitHere(pending);
            return pending.outcome();
        }
        return await(pending);
    }

    /// Runs `work` on the caller's thread, in a transaction of its own, and returns after the commit. For a caller
    /// that has already grouped its changes. If the wait times out, the change was not made and never will be.
    <T extends @Nullable Object> T writeHere(SqlFunction<T> work) {
        var pending = new Pending<T>(work);
        if (!tryLock(timeout.multipliedBy(2))) {
            throw failed("a write waited longer than " + 2 * timeout.toSeconds() + " s");
        }
        commitHere(pending);
        return pending.outcome();
    }

    /// An interrupt does not shorten the wait, so that an interrupted caller still gets the outcome of the write.
    private boolean tryLock(Duration wait) {
        boolean interrupted = false;
        try {
            long deadline = System.nanoTime() + wait.toNanos();
            while (true) {
                try {
                    // Unlike tryLock(), this method does not overtake waiting threads.
                    return writeLock.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// The caller must hold the lock, which this method releases.
    private void commitHere(Pending<?> pending) {
        try {
            if (queue.isClosed()) {
                throw failed(CLOSED);
            }
            commitLocked(List.of(pending));
        } catch (Error e) {
            // The next commit must not find a partial change in the transaction.
            disconnectLocked();
            throw e;
        } finally {
            writeLock.unlock();
        }
    }

    private <T extends @Nullable Object> T await(Pending<T> pending) {
        boolean interrupted = false;
        try {
            // A queued write will happen. Leaving early on interrupt would make its outcome unknown.
            long deadline = System.nanoTime() + 2 * timeout.toNanos();
            while (true) {
                try {
                    return enqueueAndWait(pending, deadline);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private <T extends @Nullable Object> T enqueueAndWait(Pending<T> pending, long deadline)
            throws InterruptedException {
        if (!pending.queued) {
            if (!queue.offer(pending, deadline - System.nanoTime())) {
                throw failed(queue.isClosed() ? CLOSED : "it has " + QUEUE + " writes waiting");
            }
            pending.queued = true;
        }
        if (!pending.done.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw failed("a write took longer than " + 2 * timeout.toSeconds() + " s");
        }
        return pending.outcome();
    }

    private void commitGroup(List<Pending<?>> group) {
        writeLock.lock();
        try {
            queue.fill(group);
            commitLocked(group);
        } catch (RuntimeException | Error e) {
            // The next group must not find a partial change in the transaction, and no caller may wait for this group.
            disconnectLocked();
            group.forEach(pending -> pending.fail(failed("the writer failed: " + e)));
            throw e;
        } finally {
            writeLock.unlock();
        }
    }

    @GuardedBy("writeLock")
    private void commitLocked(List<Pending<?>> group) {
        try {
            Sql open = runLocked(group);
            open.connection().commit();
            group.forEach(Pending::acknowledge);
        } catch (SQLException e) {
            undoGroupLocked();
            group.forEach(pending -> pending.fail(failed(e)));
        }
    }

    /// Runs all but the commit. If an idle connection was lost, runs the group again on a new one, because nothing
    /// was committed on the old one.
    @GuardedBy("writeLock")
    private Sql runLocked(List<Pending<?>> group) throws SQLException {
        if (sql != null) {
            try {
                attemptAll(group, sql);
                return sql;
            } catch (SQLException e) {
                if (!Dialect.isDisconnected(e)) {
                    throw e;
                }
                LOG.info("the store connects anew: {}", e.getMessage());
                disconnectLocked();
                group.forEach(Pending::again);
            }
        }
        Sql open = new Sql(connector.connect());
        sql = open;
        attemptAll(group, open);
        return open;
    }

    private static void attemptAll(List<Pending<?>> group, Sql sql) throws SQLException {
        if (group.size() == 1) {
            attemptAlone(group.getFirst(), sql);
        } else {
            for (Pending<?> pending : group) {
                attempt(pending, sql);
            }
        }
    }

    /// Without a savepoint, because no other change can be affected.
    private static void attemptAlone(Pending<?> pending, Sql sql) throws SQLException {
        try {
            pending.run(sql);
        } catch (RuntimeException e) {
            pending.refuse(e);
            sql.connection().rollback();
        }
    }

    private static void attempt(Pending<?> pending, Sql sql) throws SQLException {
        Connection connection = sql.connection();
        Savepoint before = connection.setSavepoint();
        try {
            pending.run(sql);
            connection.releaseSavepoint(before);
        } catch (SQLException e) {
            pending.refuse(failed(e));
            // A full disk ends the whole transaction. In that case the rollback throws too, and the group fails.
            connection.rollback(before);
        } catch (RuntimeException e) {
            pending.refuse(e);
            connection.rollback(before);
        }
    }

    /// After a full disk there may be no transaction left to roll back, and the state of the driver is wrong. Only
    /// a new connection has a known state.
    @GuardedBy("writeLock")
    private void undoGroupLocked() {
        try {
            if (sql != null) {
                sql.connection().rollback();
            }
        } catch (SQLException e) {
            LOG.warn("the store connects anew, because it could not roll back: {}", e.getMessage());
            disconnectLocked();
        }
    }

    @GuardedBy("writeLock")
    private void disconnectLocked() {
        try {
            if (sql != null) {
                sql.connection().close();
            }
        } catch (SQLException e) {
            LOG.warn("a connection of the store did not close: {}", e.getMessage());
        } finally {
            sql = null;
        }
    }

    static SandboxException failed(SQLException cause) {
        String why = Dialect.isDamage(cause)
                ? "the database is damaged; put a copy back, or move it away and run `viv serve --adopt`: "
                : "";
        return new SandboxException(new Failure.StoreFailed(why + cause.getMessage()), cause);
    }

    static SandboxException failed(String why) {
        return new SandboxException(new Failure.StoreFailed(why));
    }

    /// Writes the queued changes, then ends the worker.
    @Override
    public void close() {
        queue.close(timeout.multipliedBy(2));
        if (tryLock(timeout)) {
            try {
                disconnectLocked();
            } finally {
                writeLock.unlock();
            }
        }
    }

    /// One change and its outcome. The committing thread writes it; the caller reads it afterwards.
    private static final class Pending<T extends @Nullable Object> {
        private final SqlFunction<T> work;
        private final CountDownLatch done = new CountDownLatch(1);
        private boolean queued;
        private @Nullable T value;
        private @Nullable RuntimeException failure;

        Pending(SqlFunction<T> work) {
            this.work = work;
        }

        void run(Sql sql) throws SQLException {
            value = work.apply(sql);
        }

        void refuse(RuntimeException why) {
            failure = why;
        }

        void again() {
            failure = null;
        }

        void fail(RuntimeException why) {
            if (failure == null) {
                failure = why;
            }
            done.countDown();
        }

        void acknowledge() {
            done.countDown();
        }

        @SuppressWarnings("NullAway") // `value` is the result of the work, null only where T allows it.
        T outcome() {
            if (failure != null) {
                throw failure;
            }
            return value;
        }
    }
}
