package dev.vivarium.core.run;

import java.math.BigDecimal;
import java.math.RoundingMode;

/// Conversion of dollars to the unit of the store: billionths, because a token can cost less than a millionth.
/// Stateless.
public final class Money {
    private static final int DIGITS = 9;

    private Money() {}

    /// Returns the largest number if the amount is too large.
    public static long nanos(BigDecimal dollars) {
        var nanos = dollars.movePointRight(DIGITS).setScale(0, RoundingMode.HALF_UP);
        return nanos.min(BigDecimal.valueOf(Long.MAX_VALUE)).longValue();
    }

    /// Returns the amount with at least two decimals.
    public static String text(BigDecimal dollars) {
        var plain = dollars.stripTrailingZeros();
        return "$"
                + plain.setScale(Math.max(2, plain.scale()), RoundingMode.HALF_UP)
                        .toPlainString();
    }

    public static BigDecimal dollars(long nanos) {
        var plain = BigDecimal.valueOf(nanos, DIGITS).stripTrailingZeros();
        return plain.scale() < 0 ? plain.setScale(0) : plain;
    }
}
