package dev.vivarium.cli.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.cli.sync.Change.Kind;
import dev.vivarium.cli.sync.Plan.Deletes;
import dev.vivarium.cli.sync.Plan.Direction;
import dev.vivarium.cli.sync.Plan.Prefer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The table in [Plan], and invariants of every combination of states.
class PlanTest {
    private static final List<Optional<Version>> STATES = List.of(
            Optional.empty(),
            Optional.of(new Version("aa", false)),
            Optional.of(new Version("bb", false)),
            Optional.of(new Version("aa", true)));

    /// `-` stands for no file.
    @ParameterizedTest
    @CsvSource({
        "a, b, a, UPLOAD",
        "a, a, b, DOWNLOAD",
        "a, b, b, RECORD",
        "a, b, c, CONFLICT",
        "a, -, a, DELETE_REMOTE",
        "a, a, -, DELETE_LOCAL",
        "a, -, b, DOWNLOAD",
        "a, b, -, UPLOAD",
        "a, -, -, RECORD",
        "-, a, -, UPLOAD",
        "-, -, a, DOWNLOAD",
        "-, a, a, RECORD",
        "-, a, b, CONFLICT"
    })
    void planFollowsTheTable(String base, String here, String there, Kind expected) {
        assertThat(kinds(Direction.BOTH, Prefer.NEITHER, state(base), state(here), state(there)))
                .containsExactly(expected);
    }

    @Test
    void unchangedFilesNeedNoAction() {
        for (var state : STATES) {
            assertThat(kinds(Direction.BOTH, Prefer.NEITHER, state, state, state))
                    .isEmpty();
        }
    }

    @Test
    void changedFilesAreNeverOverwrittenOrDeleted() {
        everyCombination((base, here, there) -> {
            for (Kind kind : kinds(Direction.BOTH, Prefer.NEITHER, base, here, there)) {
                boolean losesThere = kind == Kind.UPLOAD || kind == Kind.DELETE_REMOTE;
                boolean losesHere = kind == Kind.DOWNLOAD || kind == Kind.DELETE_LOCAL;
                assertThat(losesThere && there.isPresent() && !there.equals(base))
                        .isFalse();
                assertThat(losesHere && here.isPresent() && !here.equals(base)).isFalse();
            }
        });
    }

    @Test
    void oneWaySyncChangesOneSideOnly() {
        everyCombination((base, here, there) -> {
            for (Prefer prefer : Prefer.values()) {
                assertThat(kinds(Direction.PUSH, prefer, base, here, there))
                        .doesNotContain(Kind.DOWNLOAD, Kind.DELETE_LOCAL);
                assertThat(kinds(Direction.PULL, prefer, base, here, there))
                        .doesNotContain(Kind.UPLOAD, Kind.DELETE_REMOTE);
            }
        });
    }

    @Test
    void preferredSideHasNoConflicts() {
        everyCombination((base, here, there) -> {
            assertThat(kinds(Direction.BOTH, Prefer.LOCAL, base, here, there)).doesNotContain(Kind.CONFLICT);
            assertThat(kinds(Direction.BOTH, Prefer.REMOTE, base, here, there)).doesNotContain(Kind.CONFLICT);
        });
    }

    @Test
    void deletesAreSkippedUnlessRequested() {
        var plan = new Plan(Direction.PUSH, Deletes.LEFT, Prefer.NEITHER);
        var a = Map.of("f", new Version("aa", false));
        assertThat(plan.changes(a, Map.of(), a)).extracting(Change::kind).containsExactly(Kind.SKIP);
    }

    private interface Combination {
        void check(Optional<Version> base, Optional<Version> here, Optional<Version> there);
    }

    private static void everyCombination(Combination combination) {
        for (var base : STATES) {
            for (var here : STATES) {
                for (var there : STATES) {
                    combination.check(base, here, there);
                }
            }
        }
    }

    private static List<Kind> kinds(
            Direction direction,
            Prefer prefer,
            Optional<Version> base,
            Optional<Version> here,
            Optional<Version> there) {
        return new Plan(direction, Deletes.CARRIED, prefer)
                .changes(files(base), files(here), files(there)).stream()
                        .map(Change::kind)
                        .toList();
    }

    private static Map<String, Version> files(Optional<Version> version) {
        return version.map(v -> Map.of("file", v)).orElse(Map.of());
    }

    private static Optional<Version> state(String name) {
        return name.equals("-") ? Optional.empty() : Optional.of(new Version(name, false));
    }
}
