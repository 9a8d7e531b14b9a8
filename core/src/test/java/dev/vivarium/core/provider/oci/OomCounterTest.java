package dev.vivarium.core.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OomCounterTest {
    @TempDir
    private Path group;

    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = group.resolve("memory.oom_control");
        Files.writeString(file, "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    }

    @Test
    void each_read_returns_the_current_count() throws IOException {
        try (var counter = new OomCounter(file)) {
            assertThat(counter.read()).isEqualTo(3);
            Files.writeString(file, "oom_kill_disable 0\nunder_oom 0\noom_kill 12\n");
            assertThat(counter.read()).isEqualTo(12);
        }
    }

    @Test
    void an_interrupted_reader_does_not_stop_later_reads() throws IOException {
        try (var counter = new OomCounter(file)) {
            assertThat(counter.read()).isEqualTo(3);
            Thread.currentThread().interrupt();
            assertThat(counter.read()).isEqualTo(3);
            assertThat(Thread.interrupted()).isTrue();
            Files.writeString(file, "oom_kill 4\n");
            assertThat(counter.read()).isEqualTo(4);
        }
    }

    @Test
    void a_group_that_is_gone_keeps_its_last_count() throws IOException {
        var missing = new OomCounter(group.resolve("gone"));
        assertThat(missing.read()).isZero();
        var counter = new OomCounter(file);
        assertThat(counter.read()).isEqualTo(3);
        counter.close();
        Files.delete(file);
        assertThat(counter.read()).isEqualTo(3);
    }
}
