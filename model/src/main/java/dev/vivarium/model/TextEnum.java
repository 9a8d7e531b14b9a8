package dev.vivarium.model;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;

/// Enum whose constants have their name in lower case as text. Immutable.
public interface TextEnum {
    String name();

    default String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Returns the constant of a stored text. Throws [IllegalArgumentException] for an unknown text.
    static <E extends Enum<E> & TextEnum> E of(Class<E> type, String text) {
        return Enum.valueOf(type, text.toUpperCase(Locale.ROOT));
    }

    /// Returns the constant with this text.
    static <E extends Enum<E> & TextEnum> Optional<E> find(Class<E> type, String text) {
        return EnumSet.allOf(type).stream()
                .filter(constant -> constant.text().equals(text))
                .findFirst();
    }
}
