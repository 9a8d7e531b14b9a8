package dev.vivarium.core.log;

import dev.vivarium.core.store.Db;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class EventLogTest extends EventLogContract {
    @TempDir
    private Path directory;

    @Override
    Db openDb() {
        return Db.sqlite(directory.resolve("test.db"));
    }
}
