package dev.vivarium.core.run;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.testbed.PostgresServer;

class PostgresRunsTest extends RunsContract {
    private final String database = PostgresServer.shared().newDatabase();

    @Override
    Db openDb() {
        return Db.postgres(PostgresAddress.of(database));
    }
}
