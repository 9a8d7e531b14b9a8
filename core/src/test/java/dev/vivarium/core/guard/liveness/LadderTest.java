package dev.vivarium.core.guard.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LadderTest {
    private static final Instant BEAT = Instant.parse("2026-01-01T10:00:00Z");

    @ParameterizedTest
    @CsvSource({
        // seconds since the last heartbeat, rungs so far, restarts, full disk, restarts allowed, next rung
        "0, 0, 0, false, 3, ",
        "15, 0, 0, false, 3, ",
        "17.9, 0, 0, false, 3, ",
        "18, 0, 0, false, 3, REPORT",
        "32.9, 1, 0, false, 3, ",
        "33, 1, 0, false, 3, PROBE",
        "47.9, 2, 0, false, 3, ",
        "48, 2, 0, false, 3, RESTART",
        "48, 2, 2, false, 3, RESTART",
        "48, 2, 3, false, 3, QUARANTINE",
        "48, 2, 0, true, 3, QUARANTINE",
        "48, 2, 0, true, 0, FAIL",
        "48, 2, 0, false, 0, FAIL",
        "600, 3, 0, false, 3, ",
        // A late check does not skip a rung.
        "600, 0, 0, false, 3, REPORT",
        "600, 1, 0, false, 3, PROBE",
        // A clock that was set back counts as a heartbeat.
        "-100, 0, 0, false, 3, ",
    })
    void theNextRungFollowsFromTheMissedHeartbeats(
            double seconds, int climbed, int restarts, boolean isDiskFull, int max, Ladder.Rung next) {
        var ladder = new Ladder(Duration.ofSeconds(15), max);
        var silence = new Ladder.Silence(BEAT, climbed, restarts, isDiskFull);

        assertThat(ladder.next(silence, BEAT.plusMillis((long) (seconds * 1000))))
                .isEqualTo(Optional.ofNullable(next));
    }
}
