package dev.vivarium.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class SamplesTest {
    @Test
    void percentilesUseSortedDurations() {
        var samples = new Samples();
        for (int i = 100; i >= 1; i--) {
            samples.add(Duration.ofMillis(i).toNanos());
        }
        assertThat(samples.count()).isEqualTo(100);
        assertThat(samples.p50()).isEqualTo(50);
        assertThat(samples.p99()).isEqualTo(99);
        assertThat(samples.percentile(100)).isEqualTo(100);
    }

    @Test
    void singleSampleIsEveryPercentile() {
        var samples = new Samples();
        samples.add(Duration.ofMillis(7).toNanos());
        assertThat(samples.p50()).isEqualTo(7);
        assertThat(samples.p99()).isEqualTo(7);
    }

    @Test
    void percentileWithoutSamplesIsNaN() {
        assertThat(new Samples().p50()).isNaN();
    }

    @Test
    void samplesOfSeveralWorkersAreMerged() {
        var all = new Samples();
        for (int worker = 0; worker < 3; worker++) {
            var own = new Samples();
            for (int i = 0; i < 50; i++) {
                own.add(worker);
            }
            all.add(own);
        }
        assertThat(all.count()).isEqualTo(150);
    }
}
