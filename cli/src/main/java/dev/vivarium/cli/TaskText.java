package dev.vivarium.cli;

import java.util.Optional;

/// Task of a command line. Its first line is the title. Immutable.
///
/// @param description the whole text, if the title is only a part of it
record TaskText(String title, Optional<String> description) {
    private static final int LONGEST_TITLE = 100;

    static TaskText of(String given) {
        String text = given.strip();
        String first = text.lines().findFirst().orElse("");
        String title = first.length() > LONGEST_TITLE ? first.substring(0, LONGEST_TITLE) : first;
        return new TaskText(title, text.equals(title) ? Optional.empty() : Optional.of(text));
    }
}
