package dev.vivarium.core.guard.anomaly;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;
import java.util.StringJoiner;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;

/// Detection and false alarms with simulated figures. The seed is fixed, so that the results are those of the
/// reference.
class DetectorSimulationTest {
    private static final int SCOPES = 200;
    private static final int RUNS = 500;
    private static final int MINUTES = 5_000;

    private final Random random = new Random(15);

    /// @param detected share of the anomalies that were found
    /// @param falseAlarms findings among ordinary values
    /// @param values number of ordinary values after the warm-up
    private record Outcome(double detected, int falseAlarms, long values) {
        double perThousand() {
            return 1000.0 * falseAlarms / values;
        }
    }

    /// If this test fails because a figure changed, replace the table in the reference by the one in the message.
    @Test
    void theReferenceHasTheFiguresOfTheSimulation() throws IOException {
        var rows = new StringJoiner("\n");
        rows.add("| simulated figure | anomaly | detected | false alarms in 1000 values |")
                .add("|---|---|---|---|");
        for (int factor : new int[] {5, 10, 20}) {
            Outcome outcome = single(Metric.DURATION_SECONDS, this::duration, factor);
            rows.add(row(
                    "duration of a run, median 5 min, log-normal", "one run takes " + factor + " × as long", outcome));
            assertThat(outcome.perThousand()).isLessThan(1);
            assertThat(outcome.detected()).isGreaterThan(factor >= 20 ? 0.9 : factor >= 10 ? 0.6 : 0.1);
        }
        Outcome tokens = single(Metric.TOKENS_PER_MINUTE, this::tokens, 20);
        rows.add(row("tokens a minute, median 8000, log-normal", "20 × as many", tokens));
        Outcome errors = errors();
        rows.add(row("outcome of runs, 10 % fail", "90 % of 20 runs fail", errors));
        Outcome bursts = creations();
        rows.add(row("creations a minute, mean 0.2 to 3 by time of day", "30 in one minute", bursts));
        assertThat(bursts.detected()).isGreaterThan(0.99);
        assertThat(bursts.perThousand()).isLessThan(0.1);
        assertThat(errors.detected()).isGreaterThan(0.9);

        assertThat(Files.readString(Path.of("../docs/reference/alerts.md"))).contains(rows.toString());
    }

    private static String row(String figure, String anomaly, Outcome outcome) {
        return String.format(
                Locale.ROOT,
                "| %s | %s | %.1f %% | %.2f |",
                figure,
                anomaly,
                100 * outcome.detected(),
                outcome.perThousand());
    }

    private double duration() {
        return 300 * Math.exp(0.5 * random.nextGaussian());
    }

    private double tokens() {
        return 8000 * Math.exp(0.5 * random.nextGaussian());
    }

    /// Each scope has ordinary values, and one anomaly at the end.
    private Outcome single(Metric metric, DoubleSupplier ordinary, double factor) {
        int detected = 0;
        int falseAlarms = 0;
        for (int scope = 0; scope < SCOPES; scope++) {
            Baseline baseline = Baseline.EMPTY;
            for (int i = 0; i < RUNS; i++) {
                var result = Detector.observe(metric, baseline, ordinary.getAsDouble());
                falseAlarms += result.finding().isPresent() ? 1 : 0;
                baseline = result.next();
            }
            double anomaly = factor * ordinary.getAsDouble();
            detected += Detector.observe(metric, baseline, anomaly).finding().isPresent() ? 1 : 0;
        }
        return new Outcome(1.0 * detected / SCOPES, falseAlarms, (long) SCOPES * (RUNS - Detector.WARM_UP));
    }

    private Outcome errors() {
        int detected = 0;
        int falseAlarms = 0;
        for (int scope = 0; scope < SCOPES; scope++) {
            Baseline baseline = Baseline.EMPTY;
            for (int i = 0; i < RUNS; i++) {
                var result = Detector.observe(Metric.ERROR_RATE, baseline, random.nextDouble() < 0.1 ? 1 : 0);
                falseAlarms += result.finding().isPresent() ? 1 : 0;
                baseline = result.next();
            }
            boolean isFound = false;
            for (int i = 0; i < 20; i++) {
                var result = Detector.observe(Metric.ERROR_RATE, baseline, random.nextDouble() < 0.9 ? 1 : 0);
                isFound |= result.finding().isPresent();
                baseline = result.next();
            }
            detected += isFound ? 1 : 0;
        }
        return new Outcome(1.0 * detected / SCOPES, falseAlarms, (long) SCOPES * (RUNS - Detector.WARM_UP));
    }

    /// The mean follows the time of day.
    private Outcome creations() {
        int detected = 0;
        int falseAlarms = 0;
        for (int user = 0; user < SCOPES; user++) {
            Baseline baseline = Baseline.EMPTY;
            for (int minute = 0; minute < MINUTES; minute++) {
                double mean = 1.6 + 1.4 * Math.sin(2 * Math.PI * minute / 1440);
                var result = Detector.observe(Metric.CREATIONS_PER_MINUTE, baseline, poisson(mean));
                falseAlarms += result.finding().isPresent() ? 1 : 0;
                baseline = result.next();
            }
            detected += Detector.observe(Metric.CREATIONS_PER_MINUTE, baseline, 30)
                            .finding()
                            .isPresent()
                    ? 1
                    : 0;
        }
        return new Outcome(1.0 * detected / SCOPES, falseAlarms, (long) SCOPES * (MINUTES - Detector.WARM_UP));
    }

    private int poisson(double mean) {
        double limit = Math.exp(-mean);
        int events = 0;
        for (double product = random.nextDouble(); product > limit; product *= random.nextDouble()) {
            events++;
        }
        return events;
    }

    @Test
    void thereIsNoAnomalyBeforeABaseline() {
        Baseline baseline = Baseline.EMPTY;
        for (int i = 0; i < Detector.WARM_UP; i++) {
            var result = Detector.observe(Metric.DURATION_SECONDS, baseline, i % 2 == 0 ? 1 : 1_000_000);
            assertThat(result.finding()).isEmpty();
            baseline = result.next();
        }
    }

    @Test
    void equalValuesHaveNoAnomalyAndAFarValueHasOne() {
        Baseline baseline = Baseline.EMPTY;
        for (int i = 0; i < 100; i++) {
            var result = Detector.observe(Metric.DURATION_SECONDS, baseline, 60);
            assertThat(result.finding()).isEmpty();
            baseline = result.next();
        }
        var finding = Detector.observe(Metric.DURATION_SECONDS, baseline, 600)
                .finding()
                .orElseThrow();
        assertThat(finding.value()).isEqualTo(600);
        assertThat(finding.usual()).isBetween(59.9, 60.1);
        assertThat(finding.deviation()).isGreaterThan(4);
        assertThat(finding.samples()).isEqualTo(100);
        assertThat(Detector.observe(Metric.DURATION_SECONDS, baseline, 0.1).finding())
                .as("small values are no anomalies")
                .isEmpty();
    }

    @Test
    void anAnomalyDoesNotBecomeTheUsualValueAtOnce() {
        Baseline baseline = Baseline.EMPTY;
        for (int i = 0; i < 100; i++) {
            baseline =
                    Detector.observe(Metric.CREATIONS_PER_MINUTE, baseline, 1).next();
        }
        for (int i = 0; i < 10; i++) {
            var result = Detector.observe(Metric.CREATIONS_PER_MINUTE, baseline, 1000);
            assertThat(result.finding()).isPresent();
            baseline = result.next();
        }
    }
}
