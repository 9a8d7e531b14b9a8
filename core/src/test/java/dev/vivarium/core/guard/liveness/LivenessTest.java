package dev.vivarium.core.guard.liveness;

import dev.vivarium.core.store.Db;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class LivenessTest extends LivenessContract {
    @TempDir
    private Path directory;

    @Override
    Db openDb() {
        return Db.sqlite(directory.resolve("test.db"));
    }
}
