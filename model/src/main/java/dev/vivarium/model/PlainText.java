package dev.vivarium.model;

/// Text without control characters, which confuse readers and which not every store accepts. Stateless.
public final class PlainText {
    private PlainText() {}

    /// Removes control characters, except line feeds and tabs.
    public static String of(String text) {
        return text.codePoints()
                .filter(c -> c == '\n' || c == '\t' || !Character.isISOControl(c))
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
