package dev.vivarium.policy;

import dev.vivarium.policy.Token.Word;
import java.util.List;

/// One program and its arguments, as the shell would start it. Immutable.
record SimpleCommand(Word word, List<Word> arguments) {
    SimpleCommand {
        arguments = List.copyOf(arguments);
    }
}
