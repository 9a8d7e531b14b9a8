package dev.vivarium.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// Result table of `make bench`: one row per measurement, with its limits and whether they hold. Not thread-safe.
final class Report {
    private static final String LAYOUT = "%-44s %12s %9s %10s %7s %10s %8s  %s";

    private final Map<String, String> circumstances;
    private final List<Row> rows = new ArrayList<>();

    /// @param circumstances facts that a reader needs to judge the numbers, such as the machine
    Report(Map<String, String> circumstances) {
        this.circumstances = Map.copyOf(circumstances);
    }

    void add(Row row) {
        rows.add(row);
        System.err.println("  " + line(row).stripTrailing());
    }

    /// Adds a row for a measurement that failed.
    void addBroken(String measurement, RuntimeException failure) {
        add(Row.of("broken: " + measurement, "", Double.NaN).held("runs to its end: " + failure, false));
    }

    boolean allHold() {
        return rows.stream().allMatch(Row::holds);
    }

    String table() {
        var text = new StringBuilder();
        String head = String.format(
                Locale.ROOT, LAYOUT, "", "p50 / value", "p99", "bare", "/ bare", "docker", "docker /", "bar");
        text.append(head).append(System.lineSeparator());
        for (Row row : rows) {
            text.append(line(row).stripTrailing()).append(System.lineSeparator());
        }
        return text.toString();
    }

    private static String line(Row row) {
        return String.format(
                Locale.ROOT,
                LAYOUT,
                row.name(),
                number(row.value()) + " " + row.unit(),
                row.p99().map(Report::number).orElse(""),
                row.bare().map(Report::number).orElse(""),
                row.timesBare().map(Report::times).orElse(""),
                row.docker().map(Report::number).orElse(""),
                row.timesBetterThanDocker().map(Report::times).orElse(""),
                String.join("; ", row.bars().stream().map(Bar::verdict).toList()));
    }

    String json() {
        var text = new StringBuilder("{\n");
        circumstances.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(entry -> text.append("  ")
                        .append(quoted(entry.getKey()))
                        .append(": ")
                        .append(quoted(entry.getValue()))
                        .append(",\n"));
        text.append("  \"all_hold\": ").append(allHold()).append(",\n  \"rows\": [\n");
        text.append(String.join(",\n", rows.stream().map(Report::json).toList()));
        return text.append("\n  ]\n}\n").toString();
    }

    private static String json(Row row) {
        var members = new ArrayList<String>();
        members.add("\"name\": " + quoted(row.name()));
        members.add("\"unit\": " + quoted(row.unit()));
        members.add("\"value\": " + plain(row.value()));
        row.p99().ifPresent(value -> members.add("\"p99\": " + plain(value)));
        row.bare().ifPresent(value -> members.add("\"bare\": " + plain(value)));
        row.timesBare().ifPresent(value -> members.add("\"times_bare\": " + plain(value)));
        row.docker().ifPresent(value -> members.add("\"docker\": " + plain(value)));
        row.timesBetterThanDocker().ifPresent(value -> members.add("\"times_better_than_docker\": " + plain(value)));
        List<String> bars = row.bars().stream()
                .map(bar -> "{\"rule\": " + quoted(bar.rule()) + ", \"holds\": " + bar.holds() + "}")
                .toList();
        members.add("\"bars\": [" + String.join(", ", bars) + "]");
        return "    {" + String.join(", ", members) + "}";
    }

    private static String times(double ratio) {
        return number(ratio) + "x";
    }

    /// Formats three significant digits, more for large numbers.
    static String number(double value) {
        if (!Double.isFinite(value)) {
            return "-";
        }
        double size = Math.abs(value);
        if (size >= 1000) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : "%.2f", value);
    }

    private static String plain(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.6f", value) : "null";
    }

    private static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c < ' ') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }

    /// Limit of a measurement, and whether this run keeps it.
    record Bar(String rule, boolean holds) {
        String verdict() {
            return (holds ? "ok " : "MISSED ") + rule;
        }
    }

    /// Direction of improvement.
    enum Better {
        LOWER,
        HIGHER
    }

    /// One measurement. Immutable.
    ///
    /// `bare` is the same work on bare `fork+exec` or the bare file system, and `docker` on a Docker Engine in this
    /// run. Rows without a useful comparison omit them.
    record Row(
            String name,
            String unit,
            Better better,
            double value,
            Optional<Double> p99,
            Optional<Double> bare,
            Optional<Double> docker,
            List<Bar> bars) {
        Row {
            bars = List.copyOf(bars);
        }

        static Row of(String name, String unit, double value) {
            return new Row(
                    name, unit, Better.LOWER, value, Optional.empty(), Optional.empty(), Optional.empty(), List.of());
        }

        /// Returns a row whose value is better if it is higher.
        static Row rate(String name, String unit, double value) {
            return new Row(
                    name, unit, Better.HIGHER, value, Optional.empty(), Optional.empty(), Optional.empty(), List.of());
        }

        static Row of(String name, Samples samples) {
            return new Row(
                    name,
                    "ms",
                    Better.LOWER,
                    samples.p50(),
                    Optional.of(samples.p99()),
                    Optional.empty(),
                    Optional.empty(),
                    List.of());
        }

        Row besideBare(double bareValue) {
            return new Row(name, unit, better, value, p99, Optional.of(bareValue), docker, bars);
        }

        /// Adds the value of the same work on a Docker Engine. NaN means that it was not measured.
        Row besideDocker(double dockerValue) {
            return Double.isNaN(dockerValue)
                    ? this
                    : new Row(name, unit, better, value, p99, bare, Optional.of(dockerValue), bars);
        }

        Row held(String rule, boolean holds) {
            var more = new ArrayList<>(bars);
            more.add(new Bar(rule, holds));
            return new Row(name, unit, better, value, p99, bare, docker, more);
        }

        Row heldToTimesBare(double max) {
            return timesBare()
                    .map(ratio -> held("<= " + number(max) + " x bare", ratio <= max))
                    .orElse(this);
        }

        /// Adds no limit if there is no Docker Engine to compare with.
        Row heldToTimesBetterThanDocker(double min) {
            return timesBetterThanDocker()
                    .map(ratio -> held(">= " + number(min) + " x better than Docker", ratio >= min))
                    .orElse(this);
        }

        Optional<Double> timesBare() {
            return bare.map(other -> value / other);
        }

        Optional<Double> timesBetterThanDocker() {
            return docker.map(other -> better == Better.LOWER ? other / value : value / other);
        }

        boolean holds() {
            return bars.stream().allMatch(Bar::holds);
        }
    }
}
