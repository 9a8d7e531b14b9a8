package dev.vivarium.core.guard.trajectory;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Finds a file that changes back and forth, and calls that repeat in a cycle. Stateless.
record Oscillation() implements Rule {
    /// Number of times that a file may get earlier content.
    static final int RETURNS = 3;

    /// Number of rounds of a cycle of calls.
    static final int ROUNDS = 5;

    static final int LONGEST_CYCLE = 3;

    @Override
    public String name() {
        return "oscillation";
    }

    @Override
    public Verdict examine(Trajectory trajectory, Instant now) {
        return Verdict.of(file(trajectory).or(() -> calls(trajectory)));
    }

    private Optional<Finding> file(Trajectory trajectory) {
        return trajectory.files.all().entrySet().stream()
                .filter(file -> file.getValue().returns() >= RETURNS)
                .max(Map.Entry.comparingByValue((one, other) -> Long.compare(one.lastSeq(), other.lastSeq())))
                .map(file -> finding(
                        "the file `" + Excerpt.of(file.getKey(), 100) + "` got earlier content again "
                                + file.getValue().returns() + " times",
                        file.getValue().seqs()));
    }

    private Optional<Finding> calls(Trajectory trajectory) {
        List<Call> calls = trajectory.finished();
        for (int cycle = 2; cycle <= LONGEST_CYCLE; cycle++) {
            int length = cycle * ROUNDS;
            if (calls.size() >= length) {
                List<Call> last = calls.subList(calls.size() - length, calls.size());
                if (isCycle(last, cycle)
                        && trajectory.counters.versionSeq < last.getFirst().seq()) {
                    return Optional.of(finding(
                            cycle + " calls repeated in a cycle " + ROUNDS + " times without a change: "
                                    + String.join(
                                            ", ",
                                            last.subList(0, cycle).stream()
                                                    .map(call -> "`" + Excerpt.of(call.text(), 60) + "`")
                                                    .toList()),
                            last.subList(Math.max(0, length - Tally.SEQS), length).stream()
                                    .map(Call::seq)
                                    .toList()));
                }
            }
        }
        return Optional.empty();
    }

    private static boolean isCycle(List<Call> calls, int cycle) {
        for (int i = cycle; i < calls.size(); i++) {
            Call call = calls.get(i);
            Call before = calls.get(i - cycle);
            if (!call.signature().equals(before.signature()) || call.outcome() != before.outcome()) {
                return false;
            }
        }
        return calls.stream().map(Call::signature).distinct().count() > 1;
    }

    private Finding finding(String summary, List<Long> evidence) {
        return new Finding(
                name(),
                Finding.Severity.SERIOUS,
                summary,
                "Decide for one of the states and say why, or try a third way.",
                evidence);
    }
}
