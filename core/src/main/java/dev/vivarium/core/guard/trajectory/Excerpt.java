package dev.vivarium.core.guard.trajectory;

/// Beginning of a text on one line. Stateless.
final class Excerpt {
    private Excerpt() {}

    /// Returns at most `max` characters, without line breaks and other control characters.
    static String of(String text, int max) {
        String start = text.length() <= 4 * max ? text : text.substring(0, 4 * max);
        String line = start.replaceAll("[\\s\\p{Cntrl}]+", " ").strip();
        if (line.length() <= max) {
            return line;
        }
        int end = Character.isHighSurrogate(line.charAt(max - 2)) ? max - 2 : max - 1;
        return line.substring(0, end) + "…";
    }
}
