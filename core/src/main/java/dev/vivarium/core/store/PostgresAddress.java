package dev.vivarium.core.store;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Where a database of PostgreSQL is, and who we are there. Its text shows no password. Immutable.
///
/// @param jdbc as the driver takes it
/// @param shown without who we are
public record PostgresAddress(String jdbc, String shown) {
    private static final Pattern FORM = Pattern.compile(
            "(?:jdbc:)?postgres(?:ql)?://"
                    + "(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<hosts>[^/?@]+)/(?<database>[^/?]+)(?:\\?(?<more>.*))?");

    /// Takes `postgresql://user:password@host:port/database?option=value`, and the same as JDBC writes it. Throws
    /// [IllegalArgumentException] with the rule; the text is never in it.
    public static PostgresAddress of(String text) {
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "must be an address such as postgresql://user:password@host:5432/vivarium");
        }
        String place = "postgresql://" + parts.group("hosts") + "/" + parts.group("database");
        String options = Stream.of(
                        option("user", parts.group("user")),
                        option("password", parts.group("password")),
                        Optional.ofNullable(parts.group("more")))
                .flatMap(Optional::stream)
                .collect(Collectors.joining("&"));
        return new PostgresAddress("jdbc:" + place + (options.isEmpty() ? "" : "?" + options), place);
    }

    /// In front of the host a plus is a plus; in an option it would be a space.
    private static Optional<String> option(String name, @Nullable String escaped) {
        return Optional.ofNullable(escaped)
                .map(text -> URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8))
                .map(text -> name + "=" + URLEncoder.encode(text, StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return shown;
    }
}
