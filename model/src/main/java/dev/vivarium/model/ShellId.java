package dev.vivarium.model;

import java.util.random.RandomGenerator;

/// Id of a shell in a sandbox: `shl` and twenty characters of `[a-z0-9]`. Immutable.
public record ShellId(String value) {
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final String PREFIX = "shl";
    private static final int RANDOM_LENGTH = 20;

    public ShellId {
        if (!isWellFormed(value)) {
            throw new SandboxException(
                    new Failure.InvalidRequest("session_id", "must be 'shl' and 20 characters of a-z and 0-9"));
        }
    }

    /// Returns a new unguessable id. Outside tests, `random` must be cryptographically secure.
    public static ShellId random(RandomGenerator random) {
        var text = new StringBuilder(PREFIX);
        for (int i = 0; i < RANDOM_LENGTH; i++) {
            text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
        }
        return new ShellId(text.toString());
    }

    /// Reports whether `text` has the format of an id.
    public static boolean isWellFormed(String text) {
        if (text.length() != PREFIX.length() + RANDOM_LENGTH || !text.startsWith(PREFIX)) {
            return false;
        }
        return text.chars().allMatch(c -> ALPHABET.indexOf(c) >= 0);
    }

    @Override
    public String toString() {
        return value;
    }
}
