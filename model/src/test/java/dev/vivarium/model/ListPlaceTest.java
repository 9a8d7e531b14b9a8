package dev.vivarium.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListPlaceTest {
    @Test
    void aCursorIsReadAgain() {
        var place = ListPlace.of(Instant.ofEpochMilli(1_767_225_600_123L), "tsk-with-dashes");

        assertThat(ListPlace.of(place.cursor())).isEqualTo(place);
    }

    @Test
    void anInvalidCursorIsRejected() {
        for (String cursor : List.of("", "-", "tsk1", "now-tsk1", "-tsk1")) {
            assertThatThrownBy(() -> ListPlace.of(cursor))
                    .as(cursor)
                    .isInstanceOf(SandboxException.class)
                    .hasMessageContaining("next_cursor");
        }
    }

    @Test
    void entriesOfTheSameTimeAreOrderedByTheirIds() {
        assertThat(new ListPlace(1, "b")).isGreaterThan(new ListPlace(1, "a")).isLessThan(new ListPlace(2, "a"));
    }
}
