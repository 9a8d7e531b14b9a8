package dev.vivarium.server.telemetry;

/// Escaping of untrusted text for a log line. Stateless.
final class LogText {
    private LogText() {}

    /// Appends a value. It adds quotes if a reader could mistake the value for more than one.
    static void value(StringBuilder line, String value) {
        boolean plain = !value.isEmpty() && value.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '"' && c != '\\');
        if (plain) {
            line.append(value);
        } else {
            line.append('"').append(escaped(value)).append('"');
        }
    }

    /// Escapes characters that a terminal or a line parser would interpret.
    static String escaped(String value) {
        var text = new StringBuilder(value.length() + 16);
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '"', '\\' -> text.append('\\').append(c);
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    if (isDangerous(c)) {
                        text.append("\\u%04x".formatted((int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        return text.toString();
    }

    /// Reports whether the character is a control, a line or paragraph separator, or a mark for text direction.
    private static boolean isDangerous(char c) {
        int type = Character.getType(c);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }
}
