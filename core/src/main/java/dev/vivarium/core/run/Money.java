package dev.vivarium.core.run;

import java.math.BigDecimal;
import java.math.RoundingMode;

/// Dollars as the store counts them: in billionths, because a token may cost less than a millionth. Stateless.
final class Money {
    private static final int DIGITS = 9;

    private Money() {}

    /// What is too much for a number of the store is the most of it.
    static long nanos(BigDecimal dollars) {
        var nanos = dollars.movePointRight(DIGITS).setScale(0, RoundingMode.HALF_UP);
        return nanos.min(BigDecimal.valueOf(Long.MAX_VALUE)).longValue();
    }

    /// As people write it: with cents at least.
    static String text(BigDecimal dollars) {
        var plain = dollars.stripTrailingZeros();
        return "$"
                + plain.setScale(Math.max(2, plain.scale()), RoundingMode.HALF_UP)
                        .toPlainString();
    }

    static BigDecimal dollars(long nanos) {
        var plain = BigDecimal.valueOf(nanos, DIGITS).stripTrailingZeros();
        return plain.scale() < 0 ? plain.setScale(0) : plain;
    }
}
