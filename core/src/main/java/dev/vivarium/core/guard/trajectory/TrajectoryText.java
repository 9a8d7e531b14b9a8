package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.run.TextListColumn;
import dev.vivarium.model.Run;
import dev.vivarium.model.TaskConstraints;
import dev.vivarium.model.TextEnum;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Stored form of a trajectory: one line for each entry, with its kind as the first word. Stateless.
final class TrajectoryText {
    private TrajectoryText() {}

    static String encode(Trajectory trajectory) {
        var lines = new ArrayList<String>();
        runLimits(lines, trajectory.runLimits);
        counters(lines, trajectory.counters);
        trajectory.calls.forEach(call -> call(lines, "call", call));
        trajectory.processes.forEach(call -> call(lines, "process", call));
        tallies(lines, "failure", trajectory.failures);
        tallies(lines, "error", trajectory.errors);
        tallies(lines, "violation", trajectory.violations);
        for (Map.Entry<String, EditedFile> file : trajectory.files.all().entrySet()) {
            EditedFile edited = file.getValue();
            line(
                    lines,
                    "file",
                    file.getKey(),
                    edited.edits(),
                    edited.returns(),
                    numbers(edited.seqs()),
                    String.join(",", edited.versions()),
                    edited.isModified());
        }
        line(lines, "signatures", String.join(",", trajectory.signatures));
        return String.join("\n", lines);
    }

    private static void call(List<String> lines, String kind, Call call) {
        line(
                lines,
                kind,
                call.seq(),
                call.id(),
                call.signature(),
                call.text(),
                call.isCheck(),
                call.outcome().text());
    }

    private static void runLimits(List<String> lines, RunLimits runLimits) {
        line(
                lines,
                "frame",
                runLimits.startedAt().toEpochMilli(),
                runLimits.runtime().text(),
                runLimits.budgetNanos().map(String::valueOf).orElse(""),
                runLimits
                        .timeLimit()
                        .map(limit -> String.valueOf(limit.toMillis()))
                        .orElse(""));
        TaskConstraints constraints = runLimits.constraints();
        constraints.tools().ifPresent(list -> line(lines, "tools", list.toArray()));
        constraints.paths().ifPresent(list -> line(lines, "paths", list.toArray()));
        constraints.hosts().ifPresent(list -> line(lines, "hosts", list.toArray()));
    }

    private static void counters(List<String> lines, Counters counters) {
        line(
                lines,
                "counters",
                counters.seq,
                counters.at.toEpochMilli(),
                counters.calls,
                counters.failedCalls,
                counters.failedSinceCheck,
                counters.modelCalls,
                counters.costNanos,
                counters.costSeq,
                counters.progressSeq,
                counters.progressAt.toEpochMilli(),
                counters.callsIdle,
                counters.modelCallsIdle,
                counters.versionSeq,
                counters.waitSeq);
    }

    private static void tallies(List<String> lines, String kind, BoundedMap<Tally> tallies) {
        tallies.all()
                .forEach((key, tally) ->
                        line(lines, kind, key, tally.text(), tally.mark(), tally.count(), numbers(tally.seqs())));
    }

    private static String numbers(List<Long> numbers) {
        return String.join(",", numbers.stream().map(String::valueOf).toList());
    }

    private static void line(List<String> lines, String kind, Object... words) {
        var all = new ArrayList<String>();
        all.add(kind);
        for (Object word : words) {
            all.add(String.valueOf(word));
        }
        lines.add(TextListColumn.encode(all));
    }

    static Trajectory decode(String text) {
        List<List<String>> lines = text.lines().map(TextListColumn::decode).toList();
        var trajectory = new Trajectory(runLimits(lines), counters(first(lines, "counters")));
        for (List<String> line : lines) {
            read(trajectory, line);
        }
        return trajectory;
    }

    private static void read(Trajectory trajectory, List<String> line) {
        switch (line.getFirst()) {
            case "call" -> trajectory.calls.add(call(line));
            case "process" -> trajectory.processes.add(call(line));
            case "failure" -> trajectory.failures.put(line.get(1), tally(line));
            case "error" -> trajectory.errors.put(line.get(1), tally(line));
            case "violation" -> trajectory.violations.put(line.get(1), tally(line));
            case "file" ->
                trajectory.files.put(
                        line.get(1),
                        new EditedFile(
                                Integer.parseInt(line.get(2)),
                                Integer.parseInt(line.get(3)),
                                numbers(line.get(4)),
                                words(line.get(5)),
                                Boolean.parseBoolean(line.get(6))));
            case "signatures" -> trajectory.signatures.addAll(words(line.get(1)));
            default -> {
                // The limits and the counters are read before.
            }
        }
    }

    private static Call call(List<String> line) {
        return new Call(
                Long.parseLong(line.get(1)),
                line.get(2),
                line.get(3),
                line.get(4),
                Boolean.parseBoolean(line.get(5)),
                TextEnum.of(Call.Outcome.class, line.get(6)));
    }

    private static Tally tally(List<String> line) {
        return new Tally(line.get(2), line.get(3), Integer.parseInt(line.get(4)), numbers(line.get(5)));
    }

    private static List<String> first(List<List<String>> lines, String kind) {
        return find(lines, kind).orElseThrow(() -> new IllegalArgumentException("the trajectory has no " + kind));
    }

    private static Optional<List<String>> find(List<List<String>> lines, String kind) {
        return lines.stream().filter(line -> line.getFirst().equals(kind)).findFirst();
    }

    private static RunLimits runLimits(List<List<String>> lines) {
        List<String> line = first(lines, "frame");
        Optional<Duration> timeLimit = number(line.get(4)).map(Duration::ofMillis);
        return new RunLimits(
                time(line.get(1)),
                TextEnum.of(Run.Runtime.class, line.get(2)),
                number(line.get(3)),
                timeLimit,
                new TaskConstraints(list(lines, "tools"), list(lines, "paths"), list(lines, "hosts"), timeLimit));
    }

    private static Optional<List<String>> list(List<List<String>> lines, String kind) {
        return find(lines, kind).map(line -> line.subList(1, line.size()));
    }

    private static Counters counters(List<String> line) {
        var counters = Counters.begin(Long.parseLong(line.get(1)), time(line.get(2)));
        counters.calls = Long.parseLong(line.get(3));
        counters.failedCalls = Long.parseLong(line.get(4));
        counters.failedSinceCheck = Long.parseLong(line.get(5));
        counters.modelCalls = Long.parseLong(line.get(6));
        counters.costNanos = Long.parseLong(line.get(7));
        counters.costSeq = Long.parseLong(line.get(8));
        counters.progressSeq = Long.parseLong(line.get(9));
        counters.progressAt = time(line.get(10));
        counters.callsIdle = Long.parseLong(line.get(11));
        counters.modelCallsIdle = Long.parseLong(line.get(12));
        counters.versionSeq = Long.parseLong(line.get(13));
        counters.waitSeq = Long.parseLong(line.get(14));
        return counters;
    }

    private static Instant time(String millis) {
        return Instant.ofEpochMilli(Long.parseLong(millis));
    }

    private static Optional<Long> number(String text) {
        return text.isEmpty() ? Optional.empty() : Optional.of(Long.parseLong(text));
    }

    private static List<Long> numbers(String text) {
        return words(text).stream().map(Long::parseLong).toList();
    }

    private static List<String> words(String text) {
        return text.isEmpty() ? List.of() : List.of(text.split(","));
    }
}
