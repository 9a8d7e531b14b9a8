package dev.vivarium.model;

/// Text for people and agents, without what only confuses them and what not every store can keep. Immutable.
public final class PlainText {
    private PlainText() {}

    /// The text without its control characters, but for ends of lines and tabs.
    public static String of(String text) {
        return text.codePoints()
                .filter(c -> c == '\n' || c == '\t' || !Character.isISOControl(c))
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
