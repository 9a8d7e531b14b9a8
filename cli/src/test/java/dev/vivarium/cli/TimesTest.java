package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class TimesTest {
    private final Times times = new Times();

    @Test
    void commonDurationFormatsAreParsed() {
        assertThat(times.convert("500ms")).isEqualTo(Duration.ofMillis(500));
        assertThat(times.convert("90")).isEqualTo(Duration.ofSeconds(90));
        assertThat(times.convert("90s")).isEqualTo(Duration.ofSeconds(90));
        assertThat(times.convert("10m")).isEqualTo(Duration.ofMinutes(10));
        assertThat(times.convert("2h")).isEqualTo(Duration.ofHours(2));
        assertThat(times.convert("30d")).isEqualTo(Duration.ofDays(30));
    }

    @Test
    void invalidDurationIsRejectedWithAnExample() {
        assertThatThrownBy(() -> times.convert("soon"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("such as 500ms");
    }
}
