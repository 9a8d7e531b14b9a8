package dev.vivarium.core.guard.trajectory;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/// Similarity of texts: the Jaccard index of their word shingles. Stateless.
final class Similarity {
    private static final int SHINGLE = 3;
    private static final int MAX_WORDS = 500;
    private static final Pattern BREAK = Pattern.compile("[^\\p{L}\\p{N}]+");

    private Similarity() {}

    /// Returns the groups of three successive words of a text, or its words if it has fewer.
    static Set<String> shingles(String text) {
        List<String> words = new ArrayList<>();
        for (String word : BREAK.split(text.toLowerCase(Locale.ROOT))) {
            if (!word.isEmpty() && words.size() < MAX_WORDS) {
                words.add(word);
            }
        }
        if (words.size() < SHINGLE) {
            return Set.copyOf(words);
        }
        var shingles = new HashSet<String>();
        for (int i = 0; i + SHINGLE <= words.size(); i++) {
            shingles.add(String.join(" ", words.subList(i, i + SHINGLE)));
        }
        return shingles;
    }

    /// Returns the share of common elements, 0 to 1. Two empty sets have none.
    static double jaccard(Set<String> one, Set<String> other) {
        if (one.isEmpty() || other.isEmpty()) {
            return 0;
        }
        Set<String> small = one.size() <= other.size() ? one : other;
        Set<String> large = small == one ? other : one;
        long common = small.stream().filter(large::contains).count();
        return (double) common / (one.size() + other.size() - common);
    }
}
