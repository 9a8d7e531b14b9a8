package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.sandbox.Lifecycle.PendingTransition;
import dev.vivarium.core.sandbox.Transition.Kind;
import dev.vivarium.model.End;
import dev.vivarium.model.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class PendingTransitionTest {
    private final ArrayList<Transition> steps = new ArrayList<>();
    private final Lifecycle lifecycle = new Lifecycle(new State.Creating(), steps::add);

    @Test
    void supersededTransitionHasNoEffect() {
        PendingTransition slow =
                lifecycle.tryBegin(Transition.START, Duration.ZERO).orElseThrow();
        PendingTransition end = lifecycle.tryEnd(Kind.TERMINATED, Duration.ZERO).orElseThrow();

        assertThat(slow.complete(new State.Recovering(Status.RUNNING))).isFalse();

        var over = new State.Terminated(new End(End.Cause.USER, "", Instant.EPOCH));
        assertThat(end.complete(over)).isTrue();
        assertThat(lifecycle.state()).isEqualTo(over);
        assertThat(steps).hasSize(1);
    }
}
