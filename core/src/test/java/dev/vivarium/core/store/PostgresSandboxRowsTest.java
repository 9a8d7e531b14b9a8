package dev.vivarium.core.store;

import dev.vivarium.testbed.PostgresServer;

class PostgresSandboxRowsTest extends SandboxRowsContract {
    private final String database = PostgresServer.shared().newDatabase();

    @Override
    Db openDb() {
        return Db.postgres(PostgresAddress.of(database));
    }
}
