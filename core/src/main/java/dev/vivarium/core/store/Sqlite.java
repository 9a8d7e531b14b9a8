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

/// SQLite with a write-ahead log in a file of our own, durable at every commit. Immutable.
record Sqlite(Path file, Duration patience) implements Dialect {
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
        config.setBusyTimeout((int) patience.toMillis());
        config.enforceForeignKeys(true);
        // Not by the driver manager, which would load the drivers of all databases.
        Connection connection = JDBC.createConnection("jdbc:sqlite:" + file, config.toProperties());
        connection.setAutoCommit(false);
        return connection;
    }

    /// The writer changes pages in many places and often: it keeps them at hand, and moves them from the log to
    /// their places less often than it would by itself.
    @Override
    public Connection connectToWrite() throws SQLException {
        Connection connection = connect();
        connection.setAutoCommit(true);
        try (var statement = connection.createStatement()) {
            statement.execute("pragma cache_size = -" + WRITER_CACHE_KIB);
            statement.execute("pragma wal_autocheckpoint = " + WAL_PAGES);
        }
        connection.setAutoCommit(false);
        return connection;
    }

    /// One server has a home, and this file is in it.
    @Override
    public void lockSchema(Sql sql) {}

    /// SQLite deletes the write-ahead log of a database that is missing or empty. The log may hold all that is left
    /// of a lost store, so it is renamed.
    void keepLostLog() throws IOException {
        Path log = file.resolveSibling(file.getFileName() + "-wal");
        if (Db.isMissing(file) && !Db.isMissing(log)) {
            Files.move(log, file.resolveSibling(log.getFileName() + ".lost-" + System.currentTimeMillis()));
        }
    }

    /// The guests' secrets are in this file. The write-ahead log takes over the mode of the database itself.
    void keepToOurselves() throws IOException {
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
