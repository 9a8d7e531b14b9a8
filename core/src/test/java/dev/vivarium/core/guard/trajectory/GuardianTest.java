package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.store.Db;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class GuardianTest extends GuardianContract {
    @TempDir
    private Path directory;

    @Override
    Db openDb() {
        return Db.sqlite(directory.resolve("test.db"));
    }
}
