package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FileLocationTest {
    @Test
    void colonBeforeAnySlashSeparatesTheThread() {
        assertThat(FileLocation.of("t1:out/a.txt")).isEqualTo(new FileLocation.Inside("t1", "out/a.txt"));
        assertThat(FileLocation.of("./t1:a.txt")).isEqualTo(new FileLocation.Local("./t1:a.txt"));
        assertThat(FileLocation.of("data.csv")).isEqualTo(new FileLocation.Local("data.csv"));
    }

    @Test
    void fileKeepsItsNameInADirectory() {
        var here = new FileLocation.Local("some/data.csv");

        assertThat(new FileLocation.Inside("t1", "").nameFor(here)).isEqualTo("data.csv");
        assertThat(new FileLocation.Inside("t1", "in/").nameFor(here)).isEqualTo("in/data.csv");
        assertThat(new FileLocation.Inside("t1", "other.csv").nameFor(here)).isEqualTo("other.csv");
    }
}
