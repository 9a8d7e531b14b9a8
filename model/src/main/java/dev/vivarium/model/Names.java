package dev.vivarium.model;

/// Validation of thread and user names. Stateless.
final class Names {
    static final int MAX_LENGTH = 200;

    private Names() {}

    /// Returns `value` if it is 1 to 200 characters long, well-formed Unicode and free of control characters.
    static String checked(String field, String value) {
        if (value.isBlank()) {
            throw invalid(field, "must not be empty");
        }
        if (value.length() > MAX_LENGTH) {
            throw invalid(field, "must be at most " + MAX_LENGTH + " characters, not " + value.length());
        }
        if (value.chars().anyMatch(Character::isISOControl)) {
            throw invalid(field, "must not hold control characters");
        }
        if (hasLoneSurrogate(value)) {
            throw invalid(field, "must be well-formed Unicode");
        }
        return value;
    }

    private static boolean hasLoneSurrogate(String value) {
        return value.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }

    private static SandboxException invalid(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }
}
