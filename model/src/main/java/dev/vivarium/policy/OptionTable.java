package dev.vivarium.policy;

import dev.vivarium.policy.Token.Word;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Table of the harmless options of a tool, parsed like `getopt_long`. Immutable.
///
/// It rejects all other options, and abbreviations of long names. `valued` letters and names take an argument.
record OptionTable(String letters, String valuedLetters, Set<String> names, Set<String> valuedNames, Order order) {
    /// Whether options may follow operands. Implementations differ on it if the first operand is a program text.
    enum Order {
        ANYWHERE,
        BEFORE_OPERANDS
    }

    /// A parsed argument: an option with its value (empty if it has none), or an operand with an empty name.
    record Item(String option, Word value) {
        boolean isOperand() {
            return option.isEmpty();
        }
    }

    private static final Word NO_VALUE = new Word("", Token.Shape.PLAIN);

    List<Item> read(SimpleCommand command) {
        var reading = new Reading(this, command);
        reading.all();
        return reading.items;
    }

    /// Confined to one thread.
    private static final class Reading {
        private final OptionTable table;
        private final String tool;
        private final List<Word> words;
        private final List<Item> items = new ArrayList<>();
        private int at;

        Reading(OptionTable table, SimpleCommand command) {
            this.table = table;
            this.tool = command.word().text();
            this.words = command.arguments();
        }

        void all() {
            boolean onlyOperands = false;
            while (at < words.size()) {
                Word word = words.get(at++);
                if (!word.looksLikeOption()) {
                    items.add(new Item("", word));
                    onlyOperands |= table.order == Order.BEFORE_OPERANDS;
                } else if (onlyOperands) {
                    throw refused(word.text(), "after the operands");
                } else if (word.text().equals("--")) {
                    onlyOperands = true;
                } else if (word.text().startsWith("--")) {
                    longOption(word.text());
                } else {
                    letters(word.text());
                }
            }
        }

        private void longOption(String text) {
            int equals = text.indexOf('=');
            String name = equals < 0 ? text : text.substring(0, equals);
            boolean valued = table.valuedNames.contains(name);
            if (!valued && !table.names.contains(name)) {
                throw refused(name, "");
            }
            boolean separate = valued && equals < 0;
            items.add(new Item(name, separate ? nextWord(name) : attached(text.substring(equals + 1))));
        }

        private void letters(String text) {
            for (int i = 1; i < text.length(); i++) {
                String option = "-" + text.charAt(i);
                if (table.valuedLetters.indexOf(text.charAt(i)) >= 0) {
                    String rest = text.substring(i + 1);
                    items.add(new Item(option, rest.isEmpty() ? nextWord(option) : attached(rest)));
                    return;
                }
                if (table.letters.indexOf(text.charAt(i)) < 0) {
                    throw refused(option, "");
                }
                items.add(new Item(option, NO_VALUE));
            }
        }

        /// Returns the word after an option that needs a value. The word must not look like an option, because
        /// a parser that disagrees about the value would treat it as one.
        private Word nextWord(String option) {
            if (at == words.size()) {
                throw refused(option, "without its value");
            }
            Word value = words.get(at++);
            boolean optionLike =
                    value.looksLikeOption() && !Character.isDigit(value.text().charAt(1));
            if (value.isGlob() || optionLike) {
                throw refused(option, "with the value " + CommandNames.quoted(value.text()));
            }
            return value;
        }

        private static Word attached(String value) {
            return new Word(value, Token.Shape.QUOTED);
        }

        private NotUnderstood refused(String option, String how) {
            String suffix = how.isEmpty() ? "" : " " + how;
            return new NotUnderstood(
                    "'" + tool + "' may not be given " + CommandNames.quoted(option) + suffix + " under this policy");
        }
    }
}
