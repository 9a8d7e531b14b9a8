package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PlaceTest {
    @Test
    void colonBeforeAnySlashSeparatesTheThread() {
        assertThat(Place.of("t1:out/a.txt")).isEqualTo(new Place.Inside("t1", "out/a.txt"));
        assertThat(Place.of("./t1:a.txt")).isEqualTo(new Place.Here("./t1:a.txt"));
        assertThat(Place.of("data.csv")).isEqualTo(new Place.Here("data.csv"));
    }

    @Test
    void fileKeepsItsNameInADirectory() {
        var here = new Place.Here("some/data.csv");

        assertThat(new Place.Inside("t1", "").nameFor(here)).isEqualTo("data.csv");
        assertThat(new Place.Inside("t1", "in/").nameFor(here)).isEqualTo("in/data.csv");
        assertThat(new Place.Inside("t1", "other.csv").nameFor(here)).isEqualTo("other.csv");
    }
}
