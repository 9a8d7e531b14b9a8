package dev.vivarium.server.settings;

import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.model.SandboxException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/// Setting of the server: `--key` on the command line, `VIV_KEY` in the environment, `key` in the file. Immutable.
///
/// The parser throws [IllegalArgumentException] with the rule that a bad value breaks.
///
/// @param alias    further environment variable for this setting, or empty
/// @param standard default value; empty for an optional setting
public record Setting<T>(String key, String alias, String standard, String meaning, Function<String, T> parser) {
    private static final long MIB = 1024L * 1024;

    private Setting(String key, String standard, String meaning, Function<String, T> parser) {
        this(key, "", standard, meaning, parser);
    }

    /// Returns an optional setting.
    static Setting<Optional<String>> text(String key, String meaning) {
        return optional(key, meaning, text -> text);
    }

    static Setting<String> text(String key, String standard, String meaning) {
        return new Setting<>(key, standard, meaning, text -> {
            require(!text.isBlank(), "must not be empty");
            return text;
        });
    }

    static Setting<Optional<Path>> path(String key, String meaning) {
        return optional(key, meaning, Path::of);
    }

    /// Returns a setting for the address of a database, which may contain a password.
    static Setting<Optional<PostgresAddress>> postgres(String key, String meaning) {
        return optional(key, meaning, PostgresAddress::of);
    }

    static Setting<Integer> integer(String key, int standard, Range range, String meaning) {
        return new Setting<>(key, String.valueOf(standard), meaning, text -> (int) whole(text, range));
    }

    /// Returns a setting for a size in MiB.
    static Setting<Long> megabytes(String key, int standard, Range range, String meaning) {
        return new Setting<>(key, String.valueOf(standard), meaning, text -> whole(text, range) * MIB);
    }

    static Setting<Double> number(String key, double standard, Range range, String meaning) {
        return new Setting<>(key, plain(standard), meaning, text -> decimal(text, range));
    }

    /// Returns a setting for a duration, given as a number of `unit` with optional fraction.
    static Setting<Duration> time(String key, double standard, Duration unit, Range range, String meaning) {
        return new Setting<>(
                key,
                plain(standard),
                meaning,
                text -> Duration.ofMillis(Math.round(decimal(text, range) * unit.toMillis())));
    }

    static <E> Setting<E> choice(
            String key, String standard, List<String> choices, Function<String, E> parser, String meaning) {
        return new Setting<>(key, standard, meaning, text -> {
            require(choices.contains(text), "must be one of " + String.join(", ", choices));
            return parser.apply(text);
        });
    }

    /// Returns an optional setting for a URL, which may have a path prefix.
    static Setting<Optional<URI>> url(String key, String meaning) {
        return optional(key, meaning, Setting::address);
    }

    /// Returns a setting for a URL with a default.
    static Setting<URI> url(String key, String standard, String meaning) {
        return new Setting<>(key, standard, meaning, Setting::address);
    }

    static Setting<Scopes> scopes(String key, String standard, String meaning) {
        return new Setting<>(key, standard, meaning, text -> {
            try {
                return Scopes.parse(text.strip());
            } catch (SandboxException e) {
                throw new IllegalArgumentException("does not hold scopes: " + e.getMessage(), e);
            }
        });
    }

    /// Returns a setting for a list: one entry per line, or a YAML list.
    static Setting<Optional<List<String>>> lines(String key, String meaning) {
        return lines(key, "", meaning);
    }

    static Setting<Optional<List<String>>> lines(String key, String standard, String meaning) {
        return new Setting<>(
                key,
                standard,
                meaning,
                text -> Optional.of(text)
                        .filter(t -> !t.isEmpty())
                        .map(t -> Arrays.stream(t.split("\n"))
                                .map(String::strip)
                                .filter(line -> !line.isEmpty())
                                .toList()));
    }

    private static <T> Setting<Optional<T>> optional(String key, String meaning, Function<String, T> parser) {
        return new Setting<>(
                key, "", meaning, text -> text.isEmpty() ? Optional.empty() : Optional.of(parser.apply(text)));
    }

    Setting<T> withAlias(String variable) {
        return new Setting<>(key, variable, standard, meaning, parser);
    }

    /// Returns the environment variable, such as `VIV_POOL_SIZE` for `pool-size`.
    public String variable() {
        return "VIV_" + key.replace('-', '_').toUpperCase(Locale.ROOT);
    }

    /// Range of valid values, both ends inclusive.
    record Range(double from, double to) {
        void check(double value) {
            require(value >= from && value <= to, "must be between " + plain(from) + " and " + plain(to));
        }
    }

    private static URI address(String text) {
        var uri = URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
        boolean isPlain = uri.getRawQuery() == null && uri.getRawFragment() == null && uri.getRawUserInfo() == null;
        require(
                List.of("http", "https").contains(uri.getScheme()) && uri.getHost() != null && isPlain,
                "must be an address such as https://viv.example.com");
        return uri;
    }

    private static long whole(String text, Range range) {
        try {
            long value = Long.parseLong(text.strip());
            range.check(value);
            return value;
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("must be a whole number, not '" + text + "'", e);
        }
    }

    private static double decimal(String text, Range range) {
        try {
            double value = Double.parseDouble(text.strip());
            range.check(value);
            return value;
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("must be a number, not '" + text + "'", e);
        }
    }

    private static String plain(double value) {
        return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
    }

    private static void require(boolean holds, String rule) {
        if (!holds) {
            throw new IllegalArgumentException(rule);
        }
    }
}
