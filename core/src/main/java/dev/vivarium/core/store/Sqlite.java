package dev.vivarium.core.store;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.sqlite.JDBC;
import org.sqlite.SQLiteConfig;

/// SQLite with a write-ahead log in a private file, durable at every commit. Immutable.
record Sqlite(Path file, Duration timeout) implements Dialect {
    private static final int WRITER_CACHE_KIB = 16_384;
    private static final int WAL_PAGES = 4_000;

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public Connection connect() throws SQLException {
        var config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        config.setBusyTimeout((int) timeout.toMillis());
        config.enforceForeignKeys(true);
        // The driver manager would load the drivers of all databases.
        Connection connection = JDBC.createConnection("jdbc:sqlite:" + file, config.toProperties());
        connection.setAutoCommit(false);
        return connection;
    }

    /// The writer changes many pages often. A larger cache keeps them in memory, and a higher limit makes
    /// checkpoints rarer.
    @Override
    public Connection connectToWrite() throws SQLException {
        Connection connection = connect();
        connection.setAutoCommit(true);
        try (var statement = connection.createStatement()) {
            statement.execute("pragma cache_size = -" + WRITER_CACHE_KIB);
            statement.execute("pragma wal_autocheckpoint = " + WAL_PAGES);
            // Overwrites deleted and replaced values, such as a secret that is now encrypted.
            statement.execute("pragma secure_delete = fast");
        }
        connection.setAutoCommit(false);
        return connection;
    }

    /// No lock needed: one server holds the home, which contains this file.
    @Override
    public void lockSchema(Sql sql) {}

    /// Renames the write-ahead log of a missing or empty database, because SQLite would delete it. The log may be
    /// all that is left of a lost store.
    void keepLostLog() throws IOException {
        Path log = file.resolveSibling(file.getFileName() + "-wal");
        if (Db.isMissing(file) && !Db.isMissing(log)) {
            Files.move(log, file.resolveSibling(log.getFileName() + ".lost-" + System.currentTimeMillis()));
        }
    }

    /// Makes the file private, because it contains the secrets of the guests. The write-ahead log inherits the mode
    /// of the database.
    void makePrivate() throws IOException {
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
}
