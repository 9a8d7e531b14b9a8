package dev.vivarium.model;

import java.util.Comparator;
import java.util.List;

/// Search for the known name that is nearest to a misspelt one. Stateless.
public final class NearestName {
    private NearestName() {}

    /// Returns the nearest name of a list that is not empty.
    public static String of(String wrong, List<String> known) {
        return known.stream()
                .min(Comparator.comparingInt(name -> distance(wrong, name)))
                .orElseThrow();
    }

    /// Returns the Levenshtein distance: the number of characters to add, remove or change.
    private static int distance(String from, String to) {
        int[] previous = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int[] current = new int[to.length() + 1];
            current[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int change = previous[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(change, Math.min(previous[j], current[j - 1]) + 1);
            }
            previous = current;
        }
        return previous[to.length()];
    }
}
