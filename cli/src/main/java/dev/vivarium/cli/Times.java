package dev.vivarium.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Parser for durations: `500ms`, `90s`, `10m`, `2h`, `30d`; a bare number is in seconds. Stateless.
final class Times implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})(ms|s|m|h|d|)");

    /// Returns a time in the form that this parser reads.
    static String text(Duration time) {
        if (time.toMillisPart() != 0) {
            return time.toMillis() + "ms";
        }
        if (time.toSecondsPart() != 0) {
            return time.toSeconds() + "s";
        }
        return time.toMinutesPart() != 0 ? time.toMinutes() + "m" : time.toHours() + "h";
    }

    @Override
    public Duration convert(String text) {
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) {
            throw new TypeConversionException("'" + text + "' is not a time such as 500ms, 90s, 10m, 2h or 30d");
        }
        long number = Long.parseLong(parts.group(1));
        return switch (parts.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            case "d" -> Duration.ofDays(number);
            default -> Duration.ofSeconds(number);
        };
    }
}
