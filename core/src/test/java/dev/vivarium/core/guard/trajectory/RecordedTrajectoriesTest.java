package dev.vivarium.core.guard.trajectory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.GuardianEvent.Action;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewReview;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.UserId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The rules on recorded trajectories of real runs. `TrajectoryRecorder` in the module `testing` records them.
class RecordedTrajectoriesTest {
    private static final List<Recording> ALL = Recording.all();
    private static final Path PAGE = Path.of("../docs/explain/guardian.md");
    private static final String FIRST_ROW =
            "| run | what the agent does | calls | rules | furthest action | after calls |";

    /// The recorded runs are short, so the cooldown is short too. Every review is approved at once: the run is
    /// stopped only if its pattern goes on.
    private static final GuardianLimits LIMITS = new GuardianLimits(
            GuardianPolicy.STOP, Duration.ofMinutes(1), Duration.ofSeconds(1), 5, Duration.ofMinutes(10));

    /// What the guardian does to a recorded run.
    ///
    /// @param rules rules that found something
    /// @param worst the furthest action
    /// @param calls number of calls before the first action
    private record Reaction(Set<String> rules, Action worst, long calls) {
        String shown() {
            return rules.isEmpty() ? "–" : "`" + String.join("`, `", rules) + "`";
        }
    }

    private static Reaction replay(Recording recording) {
        var trajectory = Trajectory.begin(recording.runLimits(), 0);
        var ladder = Ladder.EMPTY;
        var rules = new LinkedHashSet<String>();
        var worst = Action.NONE;
        long calls = 0;
        for (Step step : recording.steps()) {
            trajectory.apply(step);
            // What the store would return.
            trajectory = TrajectoryText.decode(TrajectoryText.encode(trajectory));
            Decision decision = ladder.decide(input(ladder, trajectory, step), LIMITS);
            ladder = Ladder.of(decision.ladder().text().lines().toList());
            for (Decision.Noted event : decision.events()) {
                if (event instanceof Decision.Noted.Found(var pattern, var action)) {
                    calls = rules.isEmpty() ? trajectory.counters.calls : calls;
                    rules.add(pattern.rule());
                    worst = action.compareTo(worst) > 0 ? action : worst;
                }
            }
        }
        return new Reaction(rules, worst, calls);
    }

    private static DecisionInput input(Ladder ladder, Trajectory trajectory, Step step) {
        var review = ladder.asked().map(_ -> approved(step.at()));
        var findings = review.isPresent() ? List.<Finding>of() : Rule.findings(trajectory, step.at());
        return new DecisionInput(GuardianPolicy.STOP, findings, step.seq(), review, step.at());
    }

    private static Review approved(Instant at) {
        return new Review(
                new ReviewId("revaaaaaaaaaaaaaaaaaaaa"),
                new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa"),
                Recording.TASK,
                new NewReview("guardian", "", "{}", List.of(), true),
                Review.Status.APPROVED,
                Optional.of(new Review.Answer("approve", Optional.empty(), new UserId("ann"), at)),
                at,
                at,
                Optional.empty());
    }

    private static Stream<Recording> healthy() {
        return ALL.stream().filter(Recording::isHealthy);
    }

    private static Stream<Recording> ill() {
        return ALL.stream().filter(recording -> !recording.isHealthy());
    }

    /// Ill runs that some rule should find.
    private static Stream<Recording> known() {
        return ill().filter(recording -> !recording.rules().isEmpty());
    }

    @Test
    void thereAreTwentyRecordingsOfEachKindWithDifferentNames() {
        assertThat(healthy()).hasSize(20);
        assertThat(ill()).hasSize(20);
        assertThat(ALL).extracting(Recording::name).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("healthy")
    void aHealthyRunIsNeitherPausedNorStopped(Recording recording) {
        assertThat(replay(recording).worst()).isLessThan(Action.PAUSE);
    }

    @ParameterizedTest
    @MethodSource("known")
    void anIllRunIsFoundByItsRule(Recording recording) {
        assertThat(replay(recording).rules()).containsAnyElementsOf(recording.rules());
    }

    @Test
    void everyRuleFindsAnIllRun() {
        var found = new LinkedHashSet<String>();
        ill().forEach(recording -> found.addAll(replay(recording).rules()));

        assertThat(found).containsAll(Rule.ALL.stream().map(Rule::name).toList());
    }

    @Test
    void atLeastEighteenIllRunsAreFound() {
        assertThat(ill().filter(recording -> !replay(recording).rules().isEmpty())
                        .count())
                .isGreaterThanOrEqualTo(18);
    }

    @Test
    void theStateOfALongRunStaysSmall() {
        for (Recording recording : ALL) {
            var trajectory = Trajectory.begin(recording.runLimits(), 0);
            for (int round = 0; round < 50; round++) {
                recording.steps().forEach(trajectory::apply);
            }
            assertThat(TrajectoryText.encode(trajectory).length())
                    .as(recording.name())
                    .isLessThan(64 * 1024);
        }
    }

    /// If this test fails, run it with `-Dviv.rewrite=true`, which replaces the table.
    @Test
    void thePageOfTheGuardianHasTheTable() throws IOException {
        var rows = new StringJoiner("\n");
        rows.add(FIRST_ROW);
        rows.add("|---|---|---|---|---|---|");
        for (Recording recording : ALL) {
            Reaction reaction = replay(recording);
            long calls = recording.steps().stream()
                    .filter(Step.Called.class::isInstance)
                    .count();
            rows.add("| " + recording.name() + " | " + recording.story() + " | " + calls + " | "
                    + reaction.shown() + " | " + reaction.worst().text() + " | "
                    + (reaction.rules().isEmpty() ? "–" : reaction.calls()) + " |");
        }

        String page = Files.readString(PAGE);
        if (Boolean.getBoolean("viv.rewrite")) {
            String table = Pattern.quote(FIRST_ROW) + "\n(\\|.*\n)*";
            page = page.replaceFirst(table, Matcher.quoteReplacement(rows + "\n"));
            Files.writeString(PAGE, page);
        }
        assertThat(page).contains(rows + "\n\n");
    }
}
