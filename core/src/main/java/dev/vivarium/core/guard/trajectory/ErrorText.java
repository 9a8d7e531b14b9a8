package dev.vivarium.core.guard.trajectory;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// The error in the output of a call. Immutable.
///
/// @param line the line that names the error, for people; "" if the output has no text
/// @param key  text that is equal for similar errors: without numbers and addresses
record ErrorText(String line, String key) {
    private static final int READ = 16 * 1024;
    private static final int LONGEST = 160;
    private static final int LINES = 20;
    private static final Pattern ERROR = Pattern.compile(
            "error|exception|fail|fatal|cannot|can't|could not|denied|not found|no such|undefined|unexpected|refused"
                    + "|timed out|invalid|missing|unknown",
            Pattern.CASE_INSENSITIVE);

    /// Banners and totals of test programs, which are the same for every error.
    private static final Pattern SUMMARY = Pattern.compile(
            "^[=_\\s-]*(FAILURES|ERRORS|short test summary info)[=_\\s-]*$|\\d+ (failed|passed|errors?)\\b"
                    + "|^FAILED \\((failures|errors)=|^make(\\[\\d+\\])?: \\*\\*\\*");

    private static final Pattern NUMBERS = Pattern.compile("0x[0-9a-f]+|\\b[0-9a-f]{7,}\\b|\\d+");

    static ErrorText of(String output) {
        List<String> lines = output.substring(Math.max(0, output.length() - READ))
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
        if (lines.isEmpty()) {
            return new ErrorText("", "");
        }
        List<String> named = lines.stream()
                .filter(line ->
                        ERROR.matcher(line).find() && !SUMMARY.matcher(line).find())
                .toList();
        List<String> used = named.isEmpty() ? List.of(lines.getLast()) : named;
        String key = String.join("\n", used.stream().limit(LINES).toList()).toLowerCase(Locale.ROOT);
        return new ErrorText(
                Excerpt.of(used.getLast(), LONGEST), NUMBERS.matcher(key).replaceAll("#"));
    }
}
