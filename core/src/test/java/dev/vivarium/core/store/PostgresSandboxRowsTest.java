package dev.vivarium.core.store;

import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresSandboxRowsTest extends SandboxRowsContract {
    @RegisterExtension
    static final PostgresServer POSTGRES = new PostgresServer();

    private final String database = POSTGRES.newDatabase();

    @Override
    Db openDb() {
        return Db.postgres(database);
    }
}
