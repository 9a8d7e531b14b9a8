package dev.vivarium.server.model;

import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Price list of models: the operator's table and the server's own. Immutable.
///
/// An unknown model has the highest price of the list, so that a budget holds for every model. A line contains a name,
/// which may end with `*`, and four prices in dollars per million tokens: input, output, cache read, cache write. The
/// longest matching name wins.
final class Prices {
    private static final String TABLE = "prices.txt";
    private static final int COLUMNS = 5;
    private static final BigDecimal MILLION = BigDecimal.valueOf(1_000_000);

    /// Price of a cache write for one hour, as a multiple of the input price.
    private static final BigDecimal HOUR_CACHE_FACTOR = BigDecimal.TWO;

    private final List<Line> lines;
    private final Price dearest;

    private record Line(String name, Price price) {
        boolean fits(String model) {
            return name.endsWith("*") ? model.startsWith(name.substring(0, name.length() - 1)) : model.equals(name);
        }
    }

    /// Prices in dollars per million tokens. Immutable.
    record Price(BigDecimal input, BigDecimal output, BigDecimal cacheRead, BigDecimal cacheWrite) {
        BigDecimal cost(long in, long out, long read, long written, long writtenForHour) {
            return times(input, in)
                    .add(times(output, out))
                    .add(times(cacheRead, read))
                    .add(times(cacheWrite, written - writtenForHour))
                    .add(times(input.multiply(HOUR_CACHE_FACTOR), writtenForHour))
                    .divide(MILLION)
                    .stripTrailingZeros();
        }

        /// Returns the highest cost of a call with this many bytes of input and tokens of output.
        BigDecimal worstCase(long requestBytes, long maxTokens) {
            long in = TokenCounter.tokens(requestBytes);
            return cost(in, maxTokens, 0, 0, 0).max(cost(0, maxTokens, 0, in, in));
        }

        private static BigDecimal times(BigDecimal price, long tokens) {
            return price.multiply(BigDecimal.valueOf(tokens));
        }

        private Price max(Price other) {
            return new Price(
                    input.max(other.input),
                    output.max(other.output),
                    cacheRead.max(other.cacheRead),
                    cacheWrite.max(other.cacheWrite));
        }
    }

    private Prices(List<Line> lines) {
        this.lines = List.copyOf(lines);
        this.dearest = lines.stream().map(Line::price).reduce(Price::max).orElseThrow();
    }

    /// Reads the table in `file` and the server's own. The table in `file` takes precedence. Throws
    /// `InvalidRequest` with the invalid line.
    static Prices of(Optional<Path> file) {
        var lines = new ArrayList<Line>();
        file.ifPresent(path -> lines.addAll(read(text(path))));
        lines.addAll(read(builtIn()));
        return new Prices(lines);
    }

    Price priceOf(String model) {
        Optional<Line> best = Optional.empty();
        for (Line line : lines) {
            // The operator's lines come first and win over built-in lines with a name of the same length.
            if (line.fits(model)
                    && line.name().length() > best.map(Line::name).orElse("").length()) {
                best = Optional.of(line);
            }
        }
        return best.map(Line::price).orElse(dearest);
    }

    private static List<Line> read(String text) {
        var found = new ArrayList<Line>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            String[] words = line.strip().split("\\s+");
            if (words[0].isEmpty() || words[0].startsWith("#")) {
                continue;
            }
            if (words.length != COLUMNS) {
                throw refused("must have a name and four prices on line " + number);
            }
            found.add(new Line(words[0], price(words, number)));
        }
        return found;
    }

    private static Price price(String[] words, int number) {
        try {
            var price = new Price(
                    new BigDecimal(words[1]),
                    new BigDecimal(words[2]),
                    new BigDecimal(words[3]),
                    new BigDecimal(words[4]));
            boolean isNegative = List.of(price.input, price.output, price.cacheRead, price.cacheWrite).stream()
                    .anyMatch(one -> one.signum() < 0);
            if (isNegative) {
                throw refused("has a price below zero on line " + number);
            }
            return price;
        } catch (NumberFormatException e) {
            throw refused("has a price that is no number on line " + number);
        }
    }

    private static String builtIn() {
        try (InputStream resource = Prices.class.getResourceAsStream(TABLE)) {
            if (resource == null) {
                throw new IllegalStateException("the table of prices is not in the program");
            }
            return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw refused("cannot be read: " + file);
        }
    }

    private static SandboxException refused(String rule) {
        return SandboxException.invalid("model-prices", rule);
    }
}
