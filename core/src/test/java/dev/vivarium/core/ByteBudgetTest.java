package dev.vivarium.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class ByteBudgetTest {
    private static final long MIB = 1024 * 1024;

    private final ByteBudget budget = new ByteBudget(100 * MIB);

    @Test
    void oneHolderGetsAtMostAQuarterOfTheBudget() {
        try (var first = budget.open("ann");
                var second = budget.open("ann");
                var other = budget.open("bob")) {
            first.add(20 * MIB);
            var refused = catchThrowableOfType(SandboxException.class, () -> second.add(6 * MIB));
            assertThat(refused.failure()).isInstanceOf(Failure.TooMuchInFlight.class);
            second.add(5 * MIB);
            other.add(25 * MIB);
            assertThat(budget.held()).isEqualTo(50 * MIB);
            assertThat(budget.refusals()).isEqualTo(1);
        }
        assertThat(budget.held()).isZero();
    }

    @Test
    void allHoldersTogetherStayWithinTheBudget() {
        var small = new ByteBudget(16 * MIB);
        try (var first = small.open("ann");
                var second = small.open("bob")) {
            first.add(10 * MIB);
            assertThat(second.tryAdd(7 * MIB)).isFalse();
            assertThat(second.tryAdd(6 * MIB)).isTrue();
        }
        assertThat(small.held()).isZero();
    }

    @Test
    void spareReservationsUseAtMostHalfOfTheBudget() {
        try (var some = budget.open("ann");
                var others = budget.open("bob");
                var third = budget.open("eve")) {
            some.add(25 * MIB);
            others.add(20 * MIB);
            assertThat(third.tryAddSpare(6 * MIB)).isFalse();
            assertThat(third.tryAddSpare(5 * MIB)).isTrue();
        }
    }

    @Test
    void closedReservationReleasesOnceAndRefusesMore() {
        var reservation = budget.open("ann");
        reservation.add(MIB);
        reservation.close();
        reservation.close();
        assertThat(budget.held()).isZero();
        assertThat(reservation.tryAdd(1)).isFalse();
    }

    @Test
    void concurrentReservationsReleaseEverything() {
        try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 1000; i++) {
                String holder = "holder-" + i % 7;
                workers.execute(() -> {
                    try (var reservation = budget.open(holder)) {
                        boolean unused = reservation.tryAdd(3 * MIB) && reservation.tryAddSpare(MIB);
                        reservation.remove(MIB);
                    }
                });
            }
        }
        assertThat(budget.held()).isZero();
        try (var reservation = budget.open("holder-1")) {
            assertThat(reservation.tryAdd(25 * MIB)).isTrue();
        }
    }
}
