package dev.vivarium.core.task;

import dev.vivarium.core.store.Db;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class TaskStartTest extends TaskStartContract {
    @TempDir
    private Path directory;

    @Override
    Db openDb() {
        return Db.sqlite(directory.resolve("test.db"));
    }
}
