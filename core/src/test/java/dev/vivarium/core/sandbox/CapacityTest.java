package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.sandbox.Capacity.Entry;
import org.junit.jupiter.api.Test;

class CapacityTest {
    @Test
    void thePoolTakesNoMoreThanItWantsAndThanThereIs() {
        var capacity = new Capacity(3, 2);
        assertThat(capacity.enterPool()).isTrue();
        assertThat(capacity.enterPool()).isTrue();
        assertThat(capacity.enterPool()).isFalse();
        var small = new Capacity(1, 2);
        assertThat(small.enterPool()).isTrue();
        assertThat(small.enterPool()).isFalse();
    }

    @Test
    void threadsComeBeforeThePool() {
        var capacity = new Capacity(2, 2);
        capacity.enterPool();
        capacity.enterPool();
        assertThat(capacity.enter()).isEqualTo(Entry.ENTERED_BY_SACRIFICE);
        assertThat(capacity.enter()).isEqualTo(Entry.ENTERED_BY_SACRIFICE);
        assertThat(capacity.enter()).isEqualTo(Entry.FULL);
        assertThat(capacity.active()).isEqualTo(2);
    }

    @Test
    void aPlaceThatIsLeftCanBeTakenAgain() {
        var capacity = new Capacity(1, 0);
        assertThat(capacity.enter()).isEqualTo(Entry.ENTERED);
        assertThat(capacity.enter()).isEqualTo(Entry.FULL);
        capacity.leave();
        assertThat(capacity.enter()).isEqualTo(Entry.ENTERED);
    }

    @Test
    void whatExistsAlreadyCountsEvenBeyondTheLimit() {
        var capacity = new Capacity(1, 1);
        capacity.adopt();
        capacity.adopt();
        assertThat(capacity.active()).isEqualTo(2);
        assertThat(capacity.enter()).isEqualTo(Entry.FULL);
        assertThat(capacity.enterPool()).isFalse();
    }
}
