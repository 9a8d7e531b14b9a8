package dev.vivarium.core.store;

import dev.vivarium.core.MasterKey;
import dev.vivarium.core.StoreId;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Database of the server: SQLite in a file, or PostgreSQL. Every commit is durable. Thread-safe.
///
/// All writes use one [Writer], which commits in groups. Reads use a few connections of their own and never wait for
/// writes. Every database error becomes `Failure.StoreFailed`. Every call has a timeout.
public final class Db implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int READERS = 4;

    private final Dialect dialect;
    private final Path home;
    private final Duration timeout;
    private final Writer writer;
    private final Semaphore readerSlots = new Semaphore(READERS, true);
    private final ConcurrentLinkedDeque<Sql> idleReaders = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;
    private volatile @Nullable StoreReserve reserve;
    private volatile @Nullable MasterKey masterKey;

    private Db(Dialect dialect, Path home, Duration timeout) {
        this.dialect = dialect;
        this.home = home;
        this.timeout = timeout;
        this.writer = new Writer(dialect::connectToWrite, timeout);
    }

    /// Opens the database, and creates it if it is missing (readable by this user alone). Migrates the schema. The
    /// directory of the file is the home.
    public static Db sqlite(Path file) {
        return sqlite(file, TIMEOUT);
    }

    static Db sqlite(Path file, Duration timeout) {
        var sqlite = new Sqlite(file.toAbsolutePath(), timeout);
        try {
            sqlite.keepLostLog();
            sqlite.makePrivate();
        } catch (IOException e) {
            throw new UncheckedIOException("opening the store " + sqlite.file(), e);
        }
        return open(sqlite, Objects.requireNonNull(sqlite.file().getParent()), timeout);
    }

    /// Connects to a PostgreSQL server and migrates the schema. Fails with `InvalidRequest` if another server
    /// writes to the database.
    ///
    /// @param home directory of the master key
    public static Db postgres(PostgresAddress address, Path home) {
        return postgres(address, home, TIMEOUT);
    }

    static Db postgres(PostgresAddress address, Path home, Duration timeout) {
        try {
            return open(new Postgres(address, timeout), home, timeout);
        } catch (SandboxException e) {
            throw new SandboxException(atStart(address, e), e);
        }
    }

    /// Returns the failure for the operator at startup.
    private static Failure atStart(PostgresAddress address, SandboxException why) {
        if (why.getCause() instanceof DatabaseInUse inUse) {
            return new Failure.InvalidRequest("store", String.valueOf(inUse.getMessage()));
        }
        // The driver puts the reason into the cause, for example that the host has no address.
        Throwable root = why.getCause() == null ? null : why.getCause().getCause();
        String more = root == null ? "" : " (" + root + ")";
        return why.failure() instanceof Failure.StoreFailed(var message)
                ? new Failure.StoreFailed(address + ": " + message + more)
                : why.failure();
    }

    private static Db open(Dialect dialect, Path home, Duration timeout) {
        var db = new Db(dialect, home, timeout);
        try {
            db.write(sql -> {
                dialect.lockSchema(sql);
                Migrations.run(sql);
                SealedEnv.sealAll(sql, db::masterKey);
                return sql.update(
                        "insert into store_identity (store_id) select ? where not exists (select 1 from store_identity)",
                        StoreId.random(new SecureRandom()).value());
            });
        } catch (RuntimeException e) {
            db.close();
            throw e;
        }
        return db;
    }

    /// Allocates disk space for SQLite in advance, in the background, so that it can write on a full file system.
    /// Does nothing for PostgreSQL. Call it once.
    public void reserve(long bytes) {
        if (dialect instanceof Sqlite sqlite) {
            reserve = StoreReserve.start(sqlite.file(), bytes);
        }
    }

    /// Returns the id of this store, which is created with the database.
    public StoreId id() {
        return read(sql -> sql.first("select store_id from store_identity", row -> new StoreId(row.getString(1)))
                .orElseThrow());
    }

    /// Reports whether the database file is missing or empty. Opening it would create a new store.
    public static boolean isMissing(Path file) {
        try {
            return !Files.exists(file) || Files.size(file) == 0;
        } catch (IOException e) {
            throw new UncheckedIOException("looking for the store " + file, e);
        }
    }

    /// Returns the key that encrypts secrets in the database.
    MasterKey masterKey() {
        MasterKey known = masterKey;
        if (known == null) {
            // Two threads may both read the file. The key is the same.
            known = MasterKey.of(home, new SecureRandom());
            masterKey = known;
        }
        return known;
    }

    /// Returns the name of the database product.
    public String name() {
        return dialect.name();
    }

    /// Runs a query on a snapshot of the database.
    public <T extends @Nullable Object> T read(SqlFunction<T> query) {
        acquireReader();
        try {
            // All idle connections may have been closed by the server meanwhile.
            for (Sql idle = idleReaders.pollFirst(); idle != null; idle = idleReaders.pollFirst()) {
                try {
                    return read(idle, query);
                } catch (SQLException e) {
                    if (!Dialect.isDisconnected(e)) {
                        throw e;
                    }
                }
            }
            return read(new Sql(dialect.connect()), query);
        } catch (SQLException e) {
            throw Writer.failed(e);
        } finally {
            readerSlots.release();
            closeIdleReadersIfClosed();
        }
    }

    private <T extends @Nullable Object> T read(Sql sql, SqlFunction<T> query) throws SQLException {
        try {
            T result = query.apply(sql);
            sql.connection().commit();
            idleReaders.addFirst(sql);
            return result;
        } catch (SQLException | RuntimeException e) {
            closeQuietly(sql.connection());
            throw e;
        }
    }

    /// Runs an atomic change and returns when it is durable.
    public <T extends @Nullable Object> T write(SqlFunction<T> change) {
        return writer.write(change);
    }

    /// Runs an atomic change on the caller's thread, in a transaction of its own. For a caller that has already
    /// grouped many changes. If the wait for the lock times out, the change was not made and never will be.
    public <T extends @Nullable Object> T writeHere(SqlFunction<T> change) {
        return writer.writeHere(change);
    }

    private void acquireReader() {
        try {
            if (closed) {
                throw Writer.failed("it is closed");
            }
            if (!readerSlots.tryAcquire(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                throw Writer.failed("all its readers are busy");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Writer.failed("interrupted while waiting for a reader");
        }
    }

    /// Finishes the accepted writes and closes the database. Idempotent.
    @Override
    public void close() {
        closed = true;
        StoreReserve held = reserve;
        if (held != null) {
            held.close();
        }
        writer.close();
        closeIdleReadersIfClosed();
    }

    private void closeIdleReadersIfClosed() {
        while (closed) {
            Sql idle = idleReaders.pollFirst();
            if (idle == null) {
                return;
            }
            closeQuietly(idle.connection());
        }
    }

    private static void closeQuietly(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            // No data is lost: every acknowledged write was committed, and the connection is not used again.
        }
    }
}
