package dev.vivarium.cli.tty;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/// Text from sandboxes and other users in a form that cannot control a terminal. Stateless.
///
/// Escapes control characters, line separators and invisible format characters, such as those that reverse the reading
/// order.
public final class Printable {
    private static final int ZERO_WIDTH_NON_JOINER = 0x200C;
    private static final int ZERO_WIDTH_JOINER = 0x200D;
    private static final int LAST_OF_TWO_DIGITS = 0xFF;
    private static final int CHUNK = 8192;

    private Printable() {}

    /// Escapes the text for one line, for example as `\x1b`, `\n` or `\u202e`.
    public static String text(String text) {
        return escaped(text, false);
    }

    /// Escapes the same characters in JSON, whose meaning does not change. JSON itself escapes only those below
    /// U+0020.
    public static String json(String json) {
        var safe = new StringBuilder(json.length());
        json.codePoints().forEach(c -> {
            if (isSafe(c)) {
                safe.appendCodePoint(c);
            } else {
                for (char unit : Character.toChars(c)) {
                    safe.append("\\u").append(hex(unit, 4));
                }
            }
        });
        return safe.toString();
    }

    /// Copies UTF-8 text to a terminal. Line feeds and tabs stay.
    public static void copy(InputStream bytes, PrintStream out) throws IOException {
        var reader = new InputStreamReader(bytes, StandardCharsets.UTF_8);
        char[] chunk = new char[CHUNK];
        int kept = 0;
        for (int read = reader.read(chunk); read >= 0; read = reader.read(chunk, kept, CHUNK - kept)) {
            int end = kept + read;
            boolean isSplit = Character.isHighSurrogate(chunk[end - 1]);
            int whole = isSplit ? end - 1 : end;
            out.print(escaped(new String(chunk, 0, whole), true));
            chunk[0] = chunk[end - 1];
            kept = isSplit ? 1 : 0;
        }
        out.flush();
    }

    private static String escaped(String text, boolean hasLines) {
        if (text.codePoints().allMatch(Printable::isSafe)) {
            return text;
        }
        var safe = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (isSafe(c) || hasLines && (c == '\n' || c == '\t')) {
                safe.appendCodePoint(c);
            } else {
                safe.append(escape(c));
            }
        });
        return safe.toString();
    }

    private static boolean isSafe(int c) {
        return switch (Character.getType(c)) {
            // Emoji and some scripts need the joiners.
            case Character.FORMAT -> c == ZERO_WIDTH_NON_JOINER || c == ZERO_WIDTH_JOINER;
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE ->
                false;
            default -> true;
        };
    }

    private static String escape(int c) {
        return switch (c) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> c <= LAST_OF_TWO_DIGITS ? "\\x" + hex(c, 2) : "\\u" + hex(c, 4);
        };
    }

    private static String hex(int c, int digits) {
        String text = Integer.toHexString(c);
        return "0".repeat(Math.max(0, digits - text.length())) + text;
    }
}
