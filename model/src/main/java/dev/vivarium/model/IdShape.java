package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Format of the ids of one kind: a prefix of three letters and twenty characters of `[a-z0-9]`. Immutable.
///
/// Such ids are safe in a path and in a host name.
record IdShape(String field, String prefix) {
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int RANDOM_LENGTH = 20;

    String random(RandomGenerator random) {
        var text = new StringBuilder(prefix);
        for (int i = 0; i < RANDOM_LENGTH; i++) {
            text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return text.toString();
    }

    boolean fits(String text) {
        return text.length() == prefix.length() + RANDOM_LENGTH
                && text.startsWith(prefix)
                && text.chars().allMatch(c -> ALPHABET.indexOf(c) >= 0);
    }

    void require(String text) {
        if (!fits(text)) {
            throw SandboxException.invalid(
                    field, "must be '" + prefix + "' and " + RANDOM_LENGTH + " characters of a-z and 0-9");
        }
    }
}
