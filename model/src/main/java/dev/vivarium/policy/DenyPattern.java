package dev.vivarium.policy;

import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/// Regular expression that no command may contain, in upper or lower case. Immutable.
///
/// The number of search steps is bounded, because an operator's expression can be slow on text that an attacker
/// chooses.
final class DenyPattern {
    static final List<String> SEED =
            List.of("\\brm\\b", "\\bmv\\b", "\\bdd\\b", "\\bcurl\\b", "\\bwget\\b", "\\bssh\\b", "\\bsudo\\b");

    private static final int MAX_PATTERNS = 1_000;
    private static final int MAX_PATTERN_LENGTH = 1_000;

    private final Pattern pattern;

    private DenyPattern(Pattern pattern) {
        this.pattern = pattern;
    }

    static List<DenyPattern> compiled(Collection<String> patterns) {
        if (patterns.size() > MAX_PATTERNS) {
            throw new IllegalArgumentException("denied-patterns holds more than " + MAX_PATTERNS + " patterns");
        }
        return patterns.stream().distinct().map(DenyPattern::compiled).toList();
    }

    private static DenyPattern compiled(String text) {
        if (text.isEmpty() || text.length() > MAX_PATTERN_LENGTH) {
            throw new IllegalArgumentException(
                    "denied-patterns: a pattern must have 1 to " + MAX_PATTERN_LENGTH + " characters");
        }
        try {
            return new DenyPattern(Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "denied-patterns: '" + text + "' is not a regular expression: " + e.getDescription(), e);
        }
    }

    String text() {
        return pattern.pattern();
    }

    /// Reports whether the command contains this pattern.
    ///
    /// @throws NotUnderstood if the search exceeds the bound
    boolean isIn(String command) {
        try {
            return pattern.matcher(new CountedText(command)).find();
        } catch (StackOverflowError _) {
            throw new NotUnderstood("Command is too complex to be searched for the forbidden pattern: " + text());
        }
    }

    /// Text with a limited number of reads. Confined to one search.
    ///
    /// The regular expression engine reads its input only through `charAt`, so counting the calls bounds its time.
    private static final class CountedText implements CharSequence {
        private static final long STEPS = 10_000_000;
        private static final long STEPS_PER_CHARACTER = 64;

        private final String text;
        private long left;

        CountedText(String text) {
            this.text = text;
            this.left = STEPS + STEPS_PER_CHARACTER * text.length();
        }

        @Override
        public char charAt(int index) {
            if (left-- == 0) {
                throw new NotUnderstood("Command takes too long to be searched for a forbidden pattern");
            }
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
