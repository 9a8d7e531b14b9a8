package dev.vivarium.core.run;

/// Limits of stored texts of workers. Stateless.
public final class TextLimits {
    private static final int LONGEST = 8 * 1024;

    private TextLimits() {}

    /// Returns the text without NUL, which databases refuse. Of a long text returns the end, because it names the
    /// cause.
    public static String kept(String text) {
        String clean = text.replace('\0', ' ').strip();
        return clean.length() <= LONGEST ? clean : "…" + clean.substring(clean.length() - LONGEST);
    }
}
