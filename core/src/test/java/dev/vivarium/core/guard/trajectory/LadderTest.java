package dev.vivarium.core.guard.trajectory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.guard.trajectory.Decision.Noted;
import dev.vivarium.model.GuardianEvent.Action;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewReview;
import dev.vivarium.model.Review;
import dev.vivarium.model.ReviewId;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.UserId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LadderTest {
    private static final Instant START = Instant.parse("2026-01-01T10:00:00Z");
    private static final GuardianLimits LIMITS = new GuardianLimits(
            GuardianPolicy.STEER, Duration.ofMinutes(1), Duration.ofMinutes(2), 2, Duration.ofMinutes(10));

    private static Finding finding(String rule, Finding.Severity severity, long lastSeq) {
        return new Finding(
                rule,
                severity,
                "the call `make` failed",
                "Stop it.",
                LongStream.rangeClosed(lastSeq - 4, lastSeq).boxed().toList());
    }

    private static Finding failing(long lastSeq) {
        return finding("repeated_failure", Finding.Severity.SERIOUS, lastSeq);
    }

    private static DecisionInput at(GuardianPolicy policy, int minutes, long seq, Finding... findings) {
        return new DecisionInput(policy, List.of(findings), seq, Optional.empty(), START.plusSeconds(60L * minutes));
    }

    private static DecisionInput answered(GuardianPolicy policy, int minutes, Review.Status status) {
        var answer = new Review.Answer("x", Optional.empty(), new UserId("ann"), START);
        var review = new Review(
                new ReviewId("revaaaaaaaaaaaaaaaaaaaa"),
                new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa"),
                new TaskId("tskaaaaaaaaaaaaaaaaaaaa"),
                new NewReview("guardian", "", "{}", List.of(), true),
                status,
                Optional.of(answer),
                START,
                START,
                Optional.empty());
        return new DecisionInput(policy, List.of(), 30, Optional.of(review), START.plusSeconds(60L * minutes));
    }

    private static Ladder stored(Decision decision) {
        return Ladder.of(decision.ladder().text().lines().toList());
    }

    private static Ladder asked(GuardianPolicy policy) {
        Ladder nudged = stored(Ladder.EMPTY.decide(at(policy, 0, 10, failing(10)), LIMITS));
        return stored(nudged.decide(at(policy, 3, 20, failing(20)), LIMITS));
    }

    @Test
    void offDoesNothingAndWatchOnlyObserves() {
        assertThat(Ladder.EMPTY
                        .decide(at(GuardianPolicy.OFF, 0, 10, failing(10)), LIMITS)
                        .isNothing())
                .isTrue();
        Decision watched = Ladder.EMPTY.decide(at(GuardianPolicy.WATCH, 0, 10, failing(10)), LIMITS);
        assertThat(watched.action()).isEmpty();
        assertThat(watched.events()).containsExactly(new Noted.Found(failing(10).pattern(), Action.NONE));
        Ladder after = stored(watched);
        assertThat(after.decide(at(GuardianPolicy.WATCH, 1, 20, failing(20)), LIMITS)
                        .isNothing())
                .isTrue();
        assertThat(after.decide(at(GuardianPolicy.WATCH, 3, 20, failing(20)), LIMITS)
                        .events())
                .hasSize(1);
    }

    @Test
    void steeringNudgesThenPausesAndThenDoesNothingMore() {
        Decision nudge = Ladder.EMPTY.decide(at(GuardianPolicy.STEER, 0, 10, failing(10)), LIMITS);
        assertThat(nudge.action().orElseThrow()).isInstanceOf(GuardianAction.Nudge.class);
        Ladder nudged = stored(nudge);
        assertThat(nudged.decide(at(GuardianPolicy.STEER, 1, 20, failing(20)), LIMITS)
                        .isNothing())
                .as("during the cooldown")
                .isTrue();

        Decision pause = nudged.decide(at(GuardianPolicy.STEER, 3, 20, failing(20)), LIMITS);
        assertThat(pause.action().orElseThrow()).isInstanceOf(GuardianAction.Ask.class);
        assertThat(pause.events())
                .containsExactly(
                        new Noted.Outcome(failing(20).pattern(), false),
                        new Noted.Found(failing(20).pattern(), Action.PAUSE));

        Ladder paused = stored(pause);
        assertThat(paused.decide(answered(GuardianPolicy.STEER, 500, Review.Status.PENDING), LIMITS)
                        .isNothing())
                .isTrue();
        Decision approved = paused.decide(answered(GuardianPolicy.STEER, 5, Review.Status.APPROVED), LIMITS);
        assertThat(approved.action().orElseThrow()).isInstanceOf(GuardianAction.Release.class);
        assertThat(stored(approved)
                        .decide(at(GuardianPolicy.STEER, 60, 90, failing(90)), LIMITS)
                        .isNothing())
                .isTrue();
    }

    @Test
    void stoppingFollowsAfterTheAnswerIfThePatternGoesOn() {
        Ladder approved = stored(
                asked(GuardianPolicy.STOP).decide(answered(GuardianPolicy.STOP, 4, Review.Status.APPROVED), LIMITS));
        assertThat(approved.decide(at(GuardianPolicy.STOP, 5, 40, failing(40)), LIMITS)
                        .isNothing())
                .isTrue();
        Decision stop = approved.decide(at(GuardianPolicy.STOP, 7, 40, failing(40)), LIMITS);

        assertThat(stop.action().orElseThrow())
                .isInstanceOfSatisfying(
                        GuardianAction.Stop.class,
                        action -> assertThat(action.reason())
                                .isEqualTo("stopped by the guardian: the call `make` failed"));
        assertThat(stored(stop)
                        .decide(at(GuardianPolicy.STOP, 99, 99, failing(99)), LIMITS)
                        .isNothing())
                .isTrue();
    }

    @Test
    void onlyThePolicyStopStopsWithoutAnAnswer() {
        var late = answered(GuardianPolicy.STOP, 14, Review.Status.PENDING);
        assertThat(asked(GuardianPolicy.STOP).decide(late, LIMITS).action().orElseThrow())
                .isInstanceOf(GuardianAction.Stop.class);
        var expired = answered(GuardianPolicy.STEER, 14, Review.Status.EXPIRED);
        assertThat(asked(GuardianPolicy.STEER).decide(expired, LIMITS).action()).isEmpty();
    }

    @Test
    void aRejectedReviewStopsTheRunUnderBothPolicies() {
        for (GuardianPolicy policy : List.of(GuardianPolicy.STEER, GuardianPolicy.STOP)) {
            Decision stop = asked(policy).decide(answered(policy, 4, Review.Status.REJECTED), LIMITS);

            assertThat(stop.action().orElseThrow())
                    .isInstanceOfSatisfying(
                            GuardianAction.Stop.class,
                            action -> assertThat(action.reason()).contains("ann rejected"));
        }
    }

    @Test
    void anEndedPatternIsAnOutcomeAndALaterOneIsNudgedAgain() {
        Ladder nudged = stored(Ladder.EMPTY.decide(at(GuardianPolicy.STEER, 0, 10, failing(10)), LIMITS));
        assertThat(nudged.decide(at(GuardianPolicy.STEER, 3, 10, failing(10)), LIMITS)
                        .isNothing())
                .as("without a step")
                .isTrue();
        Decision ended = nudged.decide(at(GuardianPolicy.STEER, 3, 12, failing(11)), LIMITS);
        assertThat(ended.events()).containsExactly(new Noted.Outcome(failing(10).pattern(), true));

        Decision again = stored(ended).decide(at(GuardianPolicy.STEER, 9, 50, failing(50)), LIMITS);
        assertThat(again.action().orElseThrow()).isInstanceOf(GuardianAction.Nudge.class);
    }

    @Test
    void advicePausesNothingAndNudgesAreLimited() {
        var advice = finding("burn", Finding.Severity.ADVICE, 10);
        Ladder ladder = stored(Ladder.EMPTY.decide(at(GuardianPolicy.STOP, 0, 10, advice), LIMITS));
        var later = finding("burn", Finding.Severity.ADVICE, 90);
        assertThat(ladder.decide(at(GuardianPolicy.STOP, 30, 90, later), LIMITS).isNothing())
                .isTrue();

        Ladder used = new Ladder(9, LIMITS.nudges(), List.of());
        assertThat(used.decide(at(GuardianPolicy.STOP, 0, 10, advice), LIMITS).isNothing())
                .isTrue();
        assertThat(used.decide(at(GuardianPolicy.STOP, 0, 10, failing(10)), LIMITS)
                        .action()
                        .orElseThrow())
                .isInstanceOf(GuardianAction.Ask.class);
    }

    @Test
    void anActIsStoredWithItsText() {
        for (GuardianAction action : List.of(
                new GuardianAction.Nudge(1, "two words\nand a line"),
                new GuardianAction.Ask(2, "burn", "guardian: burn", "May it?"),
                new GuardianAction.Release(3),
                new GuardianAction.Stop(4, "enough"))) {
            assertThat(GuardianAction.of(action.encoded())).contains(action);
        }
    }
}
