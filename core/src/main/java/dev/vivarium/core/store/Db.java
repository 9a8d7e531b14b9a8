package dev.vivarium.core.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The database: SQLite in a file of the server, or PostgreSQL; durable at every commit.
///
/// All writes go through one [Writer], which commits in groups; reads have a few connections of their own and never
/// wait for it. Whatever goes wrong with the database is `Failure.StoreFailed`, and no call waits for ever.
/// Thread-safe.
public final class Db implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int READERS = 4;

    private final Dialect dialect;
    private final Duration patience;
    private final Writer writer;
    private final Semaphore readerSlots = new Semaphore(READERS, true);
    private final ConcurrentLinkedDeque<Sql> idleReaders = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;

    private Db(Dialect dialect, Duration patience) {
        this.dialect = dialect;
        this.patience = patience;
        this.writer = new Writer(dialect::connect, patience);
    }

    /// Opens the database, makes it if it is not there (readable by this user alone) and brings its schema up to
    /// date.
    public static Db sqlite(Path file) {
        return sqlite(file, PATIENCE);
    }

    static Db sqlite(Path file, Duration patience) {
        var sqlite = new Sqlite(file.toAbsolutePath(), patience);
        try {
            sqlite.keepToOurselves();
        } catch (IOException e) {
            throw new UncheckedIOException("opening the store " + sqlite.file(), e);
        }
        return open(sqlite, patience);
    }

    /// Connects to a PostgreSQL server and brings the schema there up to date.
    ///
    /// @param url as in `jdbc:postgresql://host:5432/vivarium?user=…&password=…`
    public static Db postgres(String url) {
        return open(new Postgres(url, PATIENCE), PATIENCE);
    }

    private static Db open(Dialect dialect, Duration patience) {
        var db = new Db(dialect, patience);
        try {
            db.write(sql -> {
                dialect.lockSchema(sql);
                return Migrations.run(sql);
            });
        } catch (RuntimeException e) {
            db.close();
            throw e;
        }
        return db;
    }

    /// Which database it is, as operators know it.
    public String name() {
        return dialect.name();
    }

    /// Runs a query on a snapshot of the database.
    public <T extends @Nullable Object> T read(SqlFunction<T> query) {
        acquireReader();
        try {
            Sql idle = idleReaders.pollFirst();
            Sql sql = idle == null ? new Sql(dialect.connect()) : idle;
            try {
                T result = query.apply(sql);
                sql.connection().commit();
                idleReaders.addFirst(sql);
                return result;
            } catch (SQLException | RuntimeException e) {
                sql.connection().close();
                throw e;
            }
        } catch (SQLException e) {
            throw Writer.failed(e);
        } finally {
            readerSlots.release();
            closeIdleReadersIfClosed();
        }
    }

    /// Runs an all-or-nothing change and returns once it is on the disk.
    public <T extends @Nullable Object> T write(SqlFunction<T> change) {
        return writer.write(change);
    }

    private void acquireReader() {
        try {
            if (closed) {
                throw Writer.failed("it is closed");
            }
            if (!readerSlots.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                throw Writer.failed("all its readers are busy");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Writer.failed("interrupted while waiting for a reader");
        }
    }

    /// Finishes the writes that were accepted and closes the database. Idempotent.
    @Override
    public void close() {
        closed = true;
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
            // Nothing is lost: every acknowledged write was committed, and nobody can use this connection again.
        }
    }
}
