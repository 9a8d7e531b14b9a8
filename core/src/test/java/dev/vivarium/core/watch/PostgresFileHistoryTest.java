package dev.vivarium.core.watch;

import dev.vivarium.core.store.Db;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.testbed.PostgresServer;

class PostgresFileHistoryTest extends FileHistoryContract {
    private final String database = PostgresServer.shared().newDatabase();

    @Override
    Db openDb() {
        return Db.postgres(PostgresAddress.of(database));
    }
}
