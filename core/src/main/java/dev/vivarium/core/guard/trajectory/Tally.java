package dev.vivarium.core.guard.trajectory;

import java.util.ArrayList;
import java.util.List;

/// Count of similar events. Immutable.
///
/// @param text  what happened, for people
/// @param mark  what the newest of them had in addition, such as its error
/// @param seqs  numbers of the newest events
record Tally(String text, String mark, int count, List<Long> seqs) {
    /// Number of events whose numbers are kept.
    static final int SEQS = 10;

    Tally {
        seqs = List.copyOf(seqs);
    }

    static Tally first(String text, String mark, long seq) {
        return new Tally(text, mark, 1, List.of(seq));
    }

    Tally plus(String newMark, long seq) {
        var more = new ArrayList<>(seqs.subList(Math.max(0, seqs.size() + 1 - SEQS), seqs.size()));
        more.add(seq);
        return new Tally(text, newMark, count + 1, more);
    }

    long lastSeq() {
        return seqs.isEmpty() ? 0 : seqs.getLast();
    }
}
