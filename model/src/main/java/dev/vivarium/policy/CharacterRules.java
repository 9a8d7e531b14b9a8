package dev.vivarium.policy;

/// Rule that rejects characters that do not reach the shell unchanged, or that people and programs read differently.
/// Stateless.
///
/// These are control characters, unpaired surrogates, invisible characters and blanks beyond ASCII.
final class CharacterRules {
    private CharacterRules() {}

    static void check(String line) {
        int at = 0;
        while (at < line.length()) {
            int codePoint = line.codePointAt(at);
            if (!isReadable(codePoint)) {
                throw new NotUnderstood("Character U+%04X at position %d is not accepted".formatted(codePoint, at));
            }
            at += Character.charCount(codePoint);
        }
    }

    private static boolean isReadable(int codePoint) {
        if (codePoint < 0x7f) {
            return codePoint >= ' ' || codePoint == '\t' || codePoint == '\n';
        }
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.SPACE_SEPARATOR,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
