package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.util.regex.Pattern;

/// Name of a branch that git accepts, in printable ASCII. Immutable.
public record BranchName(String value) {
    private static final int MAX_LENGTH = 200;

    /// The rules of `git check-ref-format --branch`, and no character that a shell or a URL interprets.
    private static final Pattern SEGMENTS =
            Pattern.compile("[A-Za-z0-9_+#][A-Za-z0-9._+#-]*(/[A-Za-z0-9_+#][A-Za-z0-9._+#-]*)*");

    private static final Pattern REFUSED = Pattern.compile(".*(\\.\\.|\\.lock(/.*)?$|\\./|\\.$).*");
    private static final String PREFIX = "refs/heads/";

    public BranchName {
        requireValid("branch", value);
    }

    /// Parses the value of a field of a request.
    public static BranchName of(String field, String text) {
        requireValid(field, text);
        return new BranchName(text);
    }

    private static void requireValid(String field, String text) {
        require(!text.isEmpty() && text.length() <= MAX_LENGTH, field, "must be 1 to " + MAX_LENGTH + " characters");
        boolean isValid = SEGMENTS.matcher(text).matches()
                && !REFUSED.matcher(text).matches()
                && !text.equals("HEAD")
                && !text.startsWith("refs/");
        require(
                isValid,
                field,
                "must be the name of a branch, such as feature/TICKET-1: letters, digits and '._+#-' in parts that are"
                        + " separated by '/', without '..', and no part ends in '.' or '.lock'");
    }

    /// Returns the full name of the reference.
    public String ref() {
        return PREFIX + value;
    }

    @Override
    public String toString() {
        return value;
    }
}
