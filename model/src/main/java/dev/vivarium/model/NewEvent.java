package dev.vivarium.model;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;

/// Something to be kept in the log of a sandbox. Whoever gives it an `id` may send it again: it is kept once.
///
/// @param data a JSON object as text
/// @param source who says so: `agent`, `worker`, `system`, …
public record NewEvent(Optional<String> id, String type, String data, String source) {
    public static final int LONGEST_DATA = 100 * 1024;

    /// As whom the server itself speaks of what it saw.
    public static final String OURS = "sandbox";

    /// How ids begin that only the server gives.
    public static final String OUR_IDS = "sandbox:";

    private static final int LONGEST_SOURCE = 100;
    private static final Pattern TYPE = Pattern.compile("[a-zA-Z0-9_.]{1,100}");
    private static final Pattern ID = Pattern.compile("[\\x21-\\x7e]{1,100}");
    private static final Pattern SOURCE = Pattern.compile("[a-zA-Z0-9_.:@-]{1,100}");

    public NewEvent {
        require(
                TYPE.matcher(type).matches(),
                "event_type",
                "must be 1 to 100 characters of a-z, A-Z, 0-9, '_' and '.'");
        require(
                id.map(text -> ID.matcher(text).matches()).orElse(true),
                "event_id",
                "must be 1 to 100 printable characters without a space");
        requireSource(source);
        int bytes = data.getBytes(StandardCharsets.UTF_8).length;
        require(bytes <= LONGEST_DATA, "event_data", "has " + bytes + " bytes; at most " + LONGEST_DATA + " are kept");
    }

    /// Names somebody as a source, whatever characters their name has.
    public static String sourceOf(String name) {
        String plain = name.replaceAll("[^a-zA-Z0-9_.:@-]", "_");
        return plain.isEmpty() ? "user" : plain.substring(0, Math.min(plain.length(), LONGEST_SOURCE));
    }

    static void requireSource(String source) {
        require(SOURCE.matcher(source).matches(), "source", "must be 1 to 100 characters of a-z, A-Z, 0-9 and '_.:@-'");
    }

    /// One that nobody sends twice.
    public static NewEvent of(String type, String data, String source) {
        return new NewEvent(Optional.empty(), type, data, source);
    }

    private static void require(boolean holds, String field, String rule) {
        if (!holds) {
            throw new SandboxException(new Failure.InvalidRequest(field, rule));
        }
    }
}
