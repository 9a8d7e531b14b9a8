package dev.vivarium.core.guard.trajectory;

import dev.vivarium.model.ConductorEvent.Kind;
import dev.vivarium.model.ConductorEvent.Overlap;
import dev.vivarium.model.ConductorEvent.Report;
import dev.vivarium.model.RunId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// Overlaps between the active runs of one user. Stateless.
///
/// Two runs duplicate each other if their tasks have nearly the same text, or if they change mostly the same files of
/// one repository. They conflict if they change a file of one repository. Attempts at one task are no overlap.
final class Overlaps {
    /// Maximum number of runs to compare; the newest count.
    static final int MAX_RUNS = 200;

    static final double SAME_TEXT = 0.8;
    static final double SAME_FILES = 0.5;
    private static final int FEW_FILES = 2;
    private static final int MAX_OVERLAPS = 50;
    private static final int MAX_FILES = 10;

    private Overlaps() {}

    /// @param runs of one user, the earliest first
    static Report report(List<ActiveWork> runs) {
        List<ActiveWork> some = runs.subList(Math.max(0, runs.size() - MAX_RUNS), runs.size());
        var overlaps = new ArrayList<Overlap>();
        var involved = new HashSet<RunId>();
        for (int i = 0; i < some.size(); i++) {
            for (int j = i + 1; j < some.size(); j++) {
                Optional<Overlap> found = between(some.get(i), some.get(j));
                if (found.isPresent()) {
                    involved.addAll(List.of(found.get().earlier(), found.get().later()));
                    if (overlaps.size() < MAX_OVERLAPS) {
                        overlaps.add(found.get());
                    }
                }
            }
        }
        double coherence = some.isEmpty() ? 1 : 1 - (double) involved.size() / some.size();
        return new Report(runs.size(), Math.round(coherence * 100) / 100.0, overlaps);
    }

    private static Optional<Overlap> between(ActiveWork earlier, ActiveWork later) {
        if (!earlier.owner().equals(later.owner()) || earlier.task().equals(later.task())) {
            return Optional.empty();
        }
        Set<String> common = common(earlier, later);
        if (isSameWork(earlier, later, common)) {
            return Optional.of(overlap(Kind.DUPLICATE, earlier, later, common));
        }
        return common.isEmpty() ? Optional.empty() : Optional.of(overlap(Kind.CONFLICT, earlier, later, common));
    }

    /// Returns the files of the same repository that both runs changed.
    private static Set<String> common(ActiveWork earlier, ActiveWork later) {
        boolean isSameRepository =
                earlier.repository().isPresent() && earlier.repository().equals(later.repository());
        var common = new TreeSet<String>(isSameRepository ? earlier.files() : Set.of());
        common.retainAll(later.files());
        return common;
    }

    private static boolean isSameWork(ActiveWork earlier, ActiveWork later, Set<String> common) {
        boolean isSameText = Similarity.jaccard(earlier.shingles(), later.shingles()) >= SAME_TEXT
                && (earlier.repository().isEmpty()
                        || later.repository().isEmpty()
                        || earlier.repository().equals(later.repository()));
        return isSameText
                || common.size() >= FEW_FILES && Similarity.jaccard(earlier.files(), later.files()) >= SAME_FILES;
    }

    private static Overlap overlap(Kind kind, ActiveWork earlier, ActiveWork later, Set<String> files) {
        String summary = switch (kind) {
            case DUPLICATE -> "both runs seem to do the same work: `" + Excerpt.of(earlier.title(), 100) + "`";
            case CONFLICT -> "both runs change " + files.size() + " of the same files";
        };
        return new Overlap(
                kind,
                earlier.run(),
                later.run(),
                summary,
                files.stream().limit(MAX_FILES).toList());
    }
}
