package dev.vivarium.core.log;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.testbed.PostgresServer;

class PostgresEventLogTest extends EventLogContract {
    private final String database = PostgresServer.shared().newDatabase();

    @Override
    Db openDb() {
        return Db.postgres(PostgresAddress.of(database));
    }
}
