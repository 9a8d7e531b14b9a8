package dev.vivarium.core.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;

class ColumnsTest {
    @Test
    void textListsSurviveEncoding() {
        for (List<String> texts : List.of(
                List.<String>of(),
                List.of(""),
                List.of("-"),
                List.of("sh", "-c", "echo 'ä b' %20 +\n"),
                List.of("", ""))) {
            assertThat(TextListColumn.decode(TextListColumn.encode(texts))).isEqualTo(texts);
        }
    }

    @Test
    void dollarsAreStoredAsNanos() {
        assertThat(Money.dollars(Money.nanos(new BigDecimal("0.0000003")))).isEqualByComparingTo("0.0000003");
        assertThat(Money.dollars(Money.nanos(new BigDecimal("100")))).hasToString("100");
        assertThat(Money.nanos(new BigDecimal("1e300"))).isEqualTo(Long.MAX_VALUE);
    }
}
