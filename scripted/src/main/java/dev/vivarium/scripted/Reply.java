package dev.vivarium.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// A step on its way to one question. Safe for concurrent use.
///
/// @param number of this answer, so that ids are never used twice
/// @param release what it waits for, should it be held
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

    /// A text in the pieces it would arrive in; never between the halves of a character.
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
