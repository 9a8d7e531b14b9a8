package dev.vivarium.core.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.io.TempDir;

class MigrationTest extends MigrationContract {
    @TempDir
    private Path directory;

    @Override
    Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("old.db"));
    }

    @Override
    Db openDb() {
        return Db.sqlite(directory.resolve("old.db"));
    }
}
