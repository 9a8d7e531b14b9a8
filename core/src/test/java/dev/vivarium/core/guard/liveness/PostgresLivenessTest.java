package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.testbed.PostgresServer;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class PostgresLivenessTest extends LivenessContract {
    @TempDir
    private Path home;

    private final String database = PostgresServer.shared().newDatabase();

    @Override
    Db openDb() {
        return Db.postgres(PostgresAddress.of(database), home);
    }
}
