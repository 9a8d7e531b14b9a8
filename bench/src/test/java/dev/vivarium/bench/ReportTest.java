package dev.vivarium.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.bench.Report.Row;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {
    private final Report report = new Report(Map.of("kernel", "6 \"x\""));

    @Test
    void timeIsComparedWithBareAndDocker() {
        var row = Row.of("exec", "ms", 2).besideBare(1).besideDocker(60);
        assertThat(row.timesBare()).contains(2.0);
        assertThat(row.timesBetterThanDocker()).contains(30.0);
        assertThat(row.heldToTimesBare(2).heldToTimesBetterThanDocker(30).holds())
                .isTrue();
        assertThat(row.heldToTimesBare(1.9).holds()).isFalse();
        assertThat(row.heldToTimesBetterThanDocker(31).holds()).isFalse();
    }

    @Test
    void higherRateIsBetter() {
        var row = Row.rate("exec", "/s", 1500).besideBare(2000).besideDocker(15);
        assertThat(row.timesBare()).contains(0.75);
        assertThat(row.timesBetterThanDocker()).contains(100.0);
    }

    @Test
    void missingDockerEngineOmitsItsBar() {
        var row = Row.of("create", "ms", 5).besideDocker(Double.NaN).heldToTimesBetterThanDocker(30);
        assertThat(row.docker()).isEmpty();
        assertThat(row.bars()).isEmpty();
    }

    @Test
    void tableShowsValuesAndVerdicts() {
        report.add(Row.of("exec", "ms", 1.234).besideBare(1).heldToTimesBare(2));
        report.add(Row.of("idle", "KiB", 1400).held("<= 1 MiB", false));
        assertThat(report.table()).contains("1.23 ms", "1.23x", "ok <= 2.00 x bare", "1,400 KiB", "MISSED <= 1 MiB");
        assertThat(report.allHold()).isFalse();
    }

    @Test
    void jsonContainsEveryRowEscaped() {
        report.add(Row.rate("a \"b\"", "/s", 2.5).besideBare(5).held("x\ny", true));
        report.add(Row.of("c", "ms", Double.NaN));
        assertThat(report.json())
                .contains("\"kernel\": \"6 \\\"x\\\"\"")
                .contains("\"name\": \"a \\\"b\\\"\"", "\"value\": 2.500000", "\"times_bare\": 0.500000")
                .contains("{\"rule\": \"x\\u000ay\", \"holds\": true}")
                .contains("\"value\": null", "\"all_hold\": true");
    }

    @Test
    void brokenMeasurementFailsTheReport() {
        report.addBroken("exec", new IllegalStateException("no server"));
        assertThat(report.allHold()).isFalse();
        assertThat(report.table()).contains("broken: exec", "no server");
    }
}
