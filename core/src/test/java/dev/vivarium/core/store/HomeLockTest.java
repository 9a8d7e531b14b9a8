package dev.vivarium.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.store.HomeLock.EarlierState;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HomeLockTest {
    @TempDir
    Path directory;

    @Test
    void homeInUseByAnEngineIsRefused() {
        try (var _ = HomeLock.claim(directory)) {
            assertThatThrownBy(() -> HomeLock.claim(directory))
                    .isInstanceOf(SandboxException.class)
                    .hasMessageContaining("in use by another server");
        }
    }

    @Test
    void claimWaitsForTheOrphanWatcher() throws Exception {
        var watcher = HomeLock.claim(directory);
        Files.writeString(directory.resolve("lock"), "the orphan watcher removes machines\n");
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            var claim = workers.submit(() -> HomeLock.claim(directory));
            // The claim of an engine would have failed by now.
            await().during(Duration.ofSeconds(1)).until(() -> !claim.isDone());
            watcher.close();
            try (var _ = claim.get()) {
                assertThat(directory.resolve("lock")).isEmptyFile();
            }
        }
    }

    @Test
    void claimReportsThePreviousStateOfTheHome() throws IOException {
        Path absent = directory.resolve("absent");
        try (var lock = HomeLock.claim(absent)) {
            assertThat(lock.earlierState()).isEqualTo(EarlierState.ABSENT);
        }
        try (var lock = HomeLock.claim(Files.createDirectory(directory.resolve("empty")))) {
            assertThat(lock.earlierState()).isEqualTo(EarlierState.EMPTY);
        }
        Files.createFile(absent.resolve("vivarium.db"));
        try (var lock = HomeLock.claim(absent)) {
            assertThat(lock.earlierState()).isEqualTo(EarlierState.NOT_EMPTY);
        }
    }
}
