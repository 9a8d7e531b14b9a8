package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.sandbox.Transition.Kind;
import dev.vivarium.model.End;
import java.util.Arrays;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

class TransitionTest {
    @Test
    void endStatesHaveNoTransitions() {
        assertThat(Transition.values()).noneMatch(step -> step.from() == Kind.TERMINATED || step.from() == Kind.FAILED);
    }

    @Test
    void everyActiveStateCanTerminateOrFail() {
        for (Kind kind : EnumSet.of(Kind.CREATING, Kind.RUNNING, Kind.RECOVERING, Kind.PAUSED)) {
            assertThat(Transition.between(kind, Kind.TERMINATED)).isPresent();
            assertThat(Transition.between(kind, Kind.FAILED)).isPresent();
        }
    }

    @Test
    void twoStatesHaveAtMostOneTransition() {
        assertThat(Arrays.stream(Transition.values()).map(step -> step.from() + " " + step.to()))
                .doesNotHaveDuplicates();
    }

    @Test
    void requestedEndsTerminateAndOtherEndsFail() {
        assertThat(Arrays.stream(End.Cause.values()).filter(cause -> Transition.endKind(cause) == Kind.TERMINATED))
                .containsExactlyInAnyOrder(End.Cause.USER, End.Cause.IDLE, End.Cause.LIFETIME);
    }
}
