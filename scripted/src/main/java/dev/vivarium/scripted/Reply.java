package dev.vivarium.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// Step that answers one request. Thread-safe.
///
/// @param number unique number of this answer, for its ids
/// @param release latch that a held answer waits for
record Reply(Step step, Question question, long number, CountDownLatch release) {
    private static final int PIECE = 24;

    Step.Usage usage() {
        return step.usageFor(question);
    }

    String id(String prefix) {
        return "%s_scripted_%08d".formatted(prefix, number);
    }

    String callId(String prefix, int call) {
        return "%s_scripted_%08d_%d".formatted(prefix, number, call);
    }

    /// Splits a text into stream pieces. It never splits a surrogate pair.
    static List<String> pieces(String text) {
        var pieces = new ArrayList<String>();
        int start = 0;
        while (start < text.length()) {
            int end = Math.min(text.length(), start + PIECE);
            if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
                end++;
            }
            pieces.add(text.substring(start, end));
            start = end;
        }
        return pieces;
    }
}
