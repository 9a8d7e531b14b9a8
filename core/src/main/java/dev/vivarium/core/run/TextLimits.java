package dev.vivarium.core.run;

/// What is kept of texts that others wrote. Stateless.
final class TextLimits {
    private static final int LONGEST = 8 * 1024;

    private TextLimits() {}

    /// The text without what a database refuses; of a long one the end, where the cause is.
    static String kept(String text) {
        String clean = text.replace('\0', ' ').strip();
        return clean.length() <= LONGEST ? clean : "…" + clean.substring(clean.length() - LONGEST);
    }
}
