package dev.vivarium.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UndoTest {
    private final List<String> undone = new ArrayList<>();

    @Test
    void stepsAreUndoneInReverseEvenIfOneFails() {
        try (var undo = new Undo()) {
            undo.add("first", () -> undone.add("first"));
            undo.add("second", () -> {
                throw new IllegalStateException("cannot");
            });
            undo.add("third", () -> undone.add("third"));
        }
        assertThat(undone).containsExactly("third", "first");
    }

    @Test
    void keptStepsRunOnceWhenTheirNewHolderCloses() {
        Undo kept;
        try (var undo = new Undo()) {
            undo.add("first", () -> undone.add("first"));
            undo.add("second", () -> undone.add("second"));
            kept = undo.keep();
        }
        assertThat(undone).isEmpty();
        kept.close();
        kept.close();
        assertThat(undone).containsExactly("second", "first");
    }
}
