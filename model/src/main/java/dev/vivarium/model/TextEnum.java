package dev.vivarium.model;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// Enum whose constants have their name in lower case as text. Immutable.
public interface TextEnum {
    String name();

    default String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Returns the constant with this text.
    static <E extends TextEnum> Optional<E> find(E[] constants, String text) {
        return Arrays.stream(constants)
                .filter(constant -> constant.text().equals(text))
                .findFirst();
    }
}
