package dev.vivarium.core.store;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class DutyLeaseTest extends DutyLeaseContract {
    @TempDir
    private Path directory;

    @Override
    Db openDb() {
        return Db.sqlite(directory.resolve("test.db"));
    }
}
