package dev.vivarium.policy;

import dev.vivarium.policy.Token.Word;
import java.util.List;

/// Program and its arguments. Immutable.
record SimpleCommand(Word word, List<Word> arguments) {
    SimpleCommand {
        arguments = List.copyOf(arguments);
    }
}
