package dev.vivarium.core.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;

/// The database of one server: SQLite with a write-ahead log, durable at every commit.
///
/// All writes go through one [Writer], which commits in groups; reads have a few connections of their own and never
/// wait for it. Whatever goes wrong with the database is `Failure.StoreFailed`, and no call waits for ever.
/// Thread-safe.
public final class Db implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int READERS = 4;

    private final Path file;
    private final Duration patience;
    private final Writer writer;
    private final Semaphore readerSlots = new Semaphore(READERS, true);
    private final ConcurrentLinkedDeque<Sql> idleReaders = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;

    private Db(Path file, Duration patience) {
        this.file = file;
        this.patience = patience;
        this.writer = new Writer(this::connect, patience);
    }

    /// Opens the database, makes it if it is not there (readable by this user alone) and brings its schema up to
    /// date.
    public static Db sqlite(Path file) {
        return sqlite(file, PATIENCE);
    }

    static Db sqlite(Path file, Duration patience) {
        Path absolute = file.toAbsolutePath();
        try {
            keepToOurselves(absolute);
            var db = new Db(absolute, patience);
            try {
                db.write(Migrations::run);
            } catch (RuntimeException e) {
                db.close();
                throw e;
            }
            return db;
        } catch (IOException e) {
            throw new UncheckedIOException("opening the store " + absolute, e);
        }
    }

    /// Runs a query on a snapshot of the database.
    public <T extends @Nullable Object> T read(SqlFunction<T> query) {
        acquireReader();
        try {
            Sql idle = idleReaders.pollFirst();
            Sql sql = idle == null ? new Sql(connect()) : idle;
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

    private Connection connect() throws SQLException {
        var config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        config.setBusyTimeout((int) patience.toMillis());
        config.enforceForeignKeys(true);
        Connection connection = config.createConnection("jdbc:sqlite:" + file);
        connection.setAutoCommit(false);
        return connection;
    }

    /// The guests' secrets are in this file. The write-ahead log takes over the mode of the database itself.
    private static void keepToOurselves(Path file) throws IOException {
        Path directory = file.getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            var ours = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
            Files.createDirectories(directory, ours);
        }
        try {
            var ours = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
            Files.createFile(file, ours);
        } catch (FileAlreadyExistsException e) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
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
