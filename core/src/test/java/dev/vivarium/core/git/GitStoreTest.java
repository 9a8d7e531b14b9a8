package dev.vivarium.core.git;

import dev.vivarium.core.store.Db;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class GitStoreTest extends GitStoreContract {
    @TempDir
    private Path home;

    @Override
    Db openDb() {
        return Db.sqlite(home.resolve("vivarium.db"));
    }
}
