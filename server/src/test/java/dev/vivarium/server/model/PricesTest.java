package dev.vivarium.server.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Prices of models from the built-in table and the operator's table.
class PricesTest {
    private static final long MILLION = 1_000_000;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({
        "claude-sonnet-4-5-20250929, 18",
        "claude-opus-4-1, 90",
        "claude-opus-4-5-20251101, 30",
        "gpt-4o-2024-08-06, 12.5",
        "gpt-4o-mini, 0.75",
        "nobody-knows-me, 90"
    })
    void longestMatchingNameDecidesAndUnknownModelsCostTheMaximum(String model, BigDecimal dollars) {
        assertThat(Prices.of(Optional.empty()).priceOf(model).cost(MILLION, MILLION, 0, 0, 0))
                .isEqualByComparingTo(dollars);
    }

    @Test
    void operatorTableOverridesTheBuiltInTable() throws IOException {
        Path file = Files.writeString(directory.resolve("prices"), "# ours\nclaude-sonnet-* 1 2 0 0\nlocal* 0 0 0 0\n");
        var prices = Prices.of(Optional.of(file));

        assertThat(prices.priceOf("claude-sonnet-4-5").cost(MILLION, MILLION, 0, 0, 0))
                .isEqualByComparingTo("3");
        assertThat(prices.priceOf("local-llama").cost(MILLION, MILLION, 5, 5, 0))
                .isZero();
    }

    @Test
    void oneHourCacheWritesCostTwiceTheInput() {
        assertThat(Prices.of(Optional.empty()).priceOf("claude-sonnet-4-5").cost(0, 0, MILLION, 2 * MILLION, MILLION))
                .isEqualByComparingTo("10.05");
    }

    @ParameterizedTest
    @CsvSource({"claude 1 2 3, line 1", "claude a b c d, line 1", "claude 1 2 3 -4, below zero"})
    void invalidLineIsReported(String line, String problem) throws IOException {
        Path file = Files.writeString(directory.resolve("prices"), line);

        assertThatThrownBy(() -> Prices.of(Optional.of(file)))
                .hasMessageContaining("model-prices")
                .hasMessageContaining(problem);
    }
}
