package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

/// Validation of thread and user names. Stateless.
final class Names {
    static final int MAX_LENGTH = 200;

    private Names() {}

    /// Returns `value` if it is 1 to 200 characters long, well-formed Unicode and free of control characters.
    static String checked(String field, String value) {
        require(!value.isBlank(), field, "must not be empty");
        if (value.length() > MAX_LENGTH) {
            throw SandboxException.invalid(
                    field, "must be at most " + MAX_LENGTH + " characters, not " + value.length());
        }
        require(value.chars().noneMatch(Character::isISOControl), field, "must not hold control characters");
        require(!hasLoneSurrogate(value), field, "must be well-formed Unicode");
        return value;
    }

    private static boolean hasLoneSurrogate(String value) {
        return value.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
    }
}
