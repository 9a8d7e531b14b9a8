package dev.vivarium.server.telemetry;

/// Text that must stay on one line of a log, whoever wrote it. Stateless.
final class LogText {
    private LogText() {}

    /// Appends a value as it is, or in quotes when it could be taken for more than one.
    static void value(StringBuilder line, String value) {
        boolean plain = !value.isEmpty() && value.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '"' && c != '\\');
        if (plain) {
            line.append(value);
        } else {
            line.append('"').append(escaped(value)).append('"');
        }
    }

    /// Escapes what a terminal or a reader of lines would act on.
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

    /// Controls, line and paragraph separators, and marks that turn the direction of writing.
    private static boolean isDangerous(char c) {
        int type = Character.getType(c);
        return type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }
}
