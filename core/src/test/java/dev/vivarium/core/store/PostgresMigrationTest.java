package dev.vivarium.core.store;

import dev.vivarium.testbed.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.io.TempDir;

class PostgresMigrationTest extends MigrationContract {
    @TempDir
    private Path home;

    private final PostgresAddress address =
            PostgresAddress.of(PostgresServer.shared().newDatabase());

    @Override
    Connection connect() throws SQLException {
        return DriverManager.getConnection(address.jdbc());
    }

    @Override
    Db openDb() {
        return Db.postgres(address, home);
    }
}
