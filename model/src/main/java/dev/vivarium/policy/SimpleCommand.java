package dev.vivarium.policy;

import dev.vivarium.policy.Token.Word;
import java.util.List;

/// A program and its arguments. Immutable.
record SimpleCommand(Word word, List<Word> arguments) {
    SimpleCommand {
        arguments = List.copyOf(arguments);
    }
}
