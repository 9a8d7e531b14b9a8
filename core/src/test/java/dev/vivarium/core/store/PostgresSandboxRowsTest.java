package dev.vivarium.core.store;

import dev.vivarium.testbed.PostgresServer;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class PostgresSandboxRowsTest extends SandboxRowsContract {
    @TempDir
    private Path home;

    private final String database = PostgresServer.shared().newDatabase();

    @Override
    Db openDb() {
        return Db.postgres(PostgresAddress.of(database), home);
    }
}
