package dev.vivarium.core.log;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.PostgresServer;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresEventLogTest extends EventLogContract {
    @RegisterExtension
    static final PostgresServer POSTGRES = new PostgresServer();

    private final String database = POSTGRES.newDatabase();

    @Override
    Db openDb() {
        return Db.postgres(database);
    }
}
