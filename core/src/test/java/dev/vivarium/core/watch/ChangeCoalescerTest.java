package dev.vivarium.core.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.files.FileChange;
import dev.vivarium.core.files.FileChange.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChangeCoalescerTest {
    private static final List<String> PATHS = List.of("a", "b", "d/c", "d/e", "f");

    /// Applies random changes to a workspace and to a coalescer.
    @RepeatedTest(200)
    void coalescedChangesAreTheNetChange(RepetitionInfo repetition) {
        var random = new Random(repetition.getCurrentRepetition());
        Set<String> before = new HashSet<>(PATHS.subList(0, random.nextInt(PATHS.size() + 1)));
        Set<String> now = new HashSet<>(before);
        Set<String> written = new HashSet<>();
        var coalescer = new ChangeCoalescer();
        for (int i = random.nextInt(30); i > 0; i--) {
            String path = PATHS.get(random.nextInt(PATHS.size()));
            Kind kind = !now.contains(path) ? Kind.CREATED : random.nextBoolean() ? Kind.MODIFIED : Kind.DELETED;
            coalescer.add(new FileChange(kind, false, path));
            written.add(path);
            if (kind == Kind.DELETED) {
                now.remove(path);
            } else {
                now.add(path);
            }
        }

        var expected = new ArrayList<FileChange>();
        for (String path : PATHS) {
            boolean was = before.contains(path);
            boolean is = now.contains(path);
            if (written.contains(path) && (was || is)) {
                expected.add(new FileChange(was && is ? Kind.MODIFIED : is ? Kind.CREATED : Kind.DELETED, false, path));
            }
        }
        assertThat(coalescer.net()).containsExactlyInAnyOrderElementsOf(expected);
    }

    @ParameterizedTest
    @CsvSource({".vivarium,true", ".vivarium/spool/1,true", ".vivarium-other,false", "a/.vivarium,false"})
    void filesOfTheWorkerAreNotReported(String path, boolean isHidden) {
        var coalescer = new ChangeCoalescer();
        coalescer.add(new FileChange(Kind.CREATED, false, path));

        assertThat(coalescer.net().isEmpty()).isEqualTo(isHidden);
    }

    @Test
    void countsContainTotalsAndTopDirectories() {
        var coalescer = new ChangeCoalescer();
        for (int i = 0; i < 30; i++) {
            coalescer.add(new FileChange(Kind.CREATED, false, "node_modules/m" + i + "/index.js"));
        }
        coalescer.add(new FileChange(Kind.MODIFIED, false, "package.json"));
        coalescer.add(new FileChange(Kind.DELETED, true, "old"));

        assertThat(ChangeCoalescer.count(coalescer.net()))
                .isEqualTo(new ChangeCoalescer.Counts(30, 1, 1, List.of("node_modules", ".", "old")));
    }

    @Test
    void overflowMarksTheChangesAsIncomplete() {
        var coalescer = new ChangeCoalescer();
        coalescer.add(new FileChange(Kind.OVERFLOW, false, ""));

        assertThat(coalescer.isIncomplete()).isTrue();
        assertThat(coalescer.net()).isEmpty();
    }
}
