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

/// Address and credentials of a PostgreSQL database. Its text never contains the password. Immutable.
///
/// @param jdbc  URL for the driver
/// @param shown URL without credentials
public record PostgresAddress(String jdbc, String shown) {
    private static final Pattern FORM = Pattern.compile(
            "(?:jdbc:)?postgres(?:ql)?://"
                    + "(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<hosts>[^/?@]+)/(?<database>[^/?]+)(?:\\?(?<more>.*))?");

    /// Parses `postgresql://user:password@host:port/database?option=value`, with an optional `jdbc:` prefix. Throws
    /// [IllegalArgumentException] with the rule; its message never contains the text.
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

    /// In the user part a plus is literal; in an option it would be a space.
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
