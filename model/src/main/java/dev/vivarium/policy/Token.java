package dev.vivarium.policy;

/// Token of a command line. Immutable.
sealed interface Token {
    /// A word after quote removal, and how it was written.
    record Word(String text, Shape shape) implements Token {
        boolean isPlain() {
            return shape == Shape.PLAIN;
        }

        /// Reports whether the shell may replace the word by any number of file names.
        boolean isGlob() {
            return shape == Shape.GLOB || shape == Shape.LEADING_GLOB;
        }

        /// Reports whether a program would parse this word as an option. A lone `-` means standard input.
        boolean looksLikeOption() {
            return text.length() > 1 && text.charAt(0) == '-';
        }
    }

    /// The start of a redirection, as written: `>`, `2>>`, `2>&`. The next token must be its target.
    record RedirectOperator(String text) implements Token {
        boolean duplicates() {
            return text.endsWith("&");
        }
    }

    /// Separator between commands.
    enum Separator implements Token {
        PIPE("|"),
        AND("&&"),
        OR("||"),
        SEMICOLON(";"),
        NEWLINE("newline"),
        END("end of the command");

        private final String text;

        Separator(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    /// How a word was written, which determines how the shell expands it.
    enum Shape {
        /// Literal characters only: no quote, no escape, no glob.
        PLAIN,
        /// At least one quote or escape, and no active glob.
        QUOTED,
        /// An active glob after a literal first character.
        GLOB,
        /// An active glob as the first character, so that file names determine how the word begins.
        LEADING_GLOB
    }
}
