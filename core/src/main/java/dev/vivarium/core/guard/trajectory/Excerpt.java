package dev.vivarium.core.guard.trajectory;

/// Beginning of a text on one line. Stateless.
final class Excerpt {
    private Excerpt() {}

    /// Returns at most `most` characters, without line breaks and other control characters.
    static String of(String text, int most) {
        String start = text.length() <= 4 * most ? text : text.substring(0, 4 * most);
        String line = start.replaceAll("[\\s\\p{Cntrl}]+", " ").strip();
        if (line.length() <= most) {
            return line;
        }
        int end = Character.isHighSurrogate(line.charAt(most - 2)) ? most - 2 : most - 1;
        return line.substring(0, end) + "…";
    }
}
