package dev.vivarium.core.guard.anomaly;

import dev.vivarium.core.store.Db;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class AnomaliesTest extends AnomaliesContract {
    @TempDir
    private Path directory;

    @Override
    Db openDb() {
        return Db.sqlite(directory.resolve("test.db"));
    }
}
