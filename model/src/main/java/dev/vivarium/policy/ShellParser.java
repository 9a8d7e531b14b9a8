package dev.vivarium.policy;

import dev.vivarium.policy.Token.RedirectOperator;
import dev.vivarium.policy.Token.Separator;
import dev.vivarium.policy.Token.Word;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Parser of the part of the shell's grammar that can be checked without evaluation. Confined to one thread.
///
/// ```text
/// line     = newline* [ list ]
/// list     = pipeline { ("&&" | "||") newline* pipeline | (";" | newline) newline* [ pipeline ] }
/// pipeline = command { "|" newline* command }
/// command  = (word | redirect target) +            with at least one word
/// ```
final class ShellParser {
    static final int MAX_COMMANDS = 256;

    /// The only paths below `/dev` that a redirection may use: bash opens network connections for some others.
    private static final Set<String> DEVICES = Set.of("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr");

    private final List<Token> tokens;
    private final List<SimpleCommand> commands = new ArrayList<>();
    private int at;

    private ShellParser(List<Token> tokens) {
        this.tokens = tokens;
    }

    /// Returns every simple command of `line`, in order. Empty if the line is blank.
    static List<SimpleCommand> commands(String line) {
        var parser = new ShellParser(ShellLexer.tokens(line));
        parser.list();
        return parser.commands;
    }

    private void list() {
        skipNewlines();
        while (peek() != Separator.END) {
            pipeline();
            afterPipeline();
        }
    }

    private void afterPipeline() {
        Token separator = peek();
        if (separator == Separator.AND || separator == Separator.OR) {
            at++;
            skipNewlines();
            if (peek() == Separator.END) {
                throw nothingAfter((Separator) separator);
            }
        } else if (separator == Separator.SEMICOLON || separator == Separator.NEWLINE) {
            at++;
            skipNewlines();
        }
    }

    private void pipeline() {
        command();
        while (peek() == Separator.PIPE) {
            at++;
            skipNewlines();
            command();
        }
    }

    private void command() {
        List<Word> words = new ArrayList<>();
        int start = at;
        while (!(peek() instanceof Separator)) {
            if (tokens.get(at++) instanceof Word word) {
                words.add(word);
            } else {
                target((RedirectOperator) tokens.get(at - 1));
            }
        }
        if (words.isEmpty()) {
            throw at == start ? nothingBefore((Separator) peek()) : new NotUnderstood("A redirection needs a command");
        }
        if (commands.size() == MAX_COMMANDS) {
            throw new NotUnderstood("More than " + MAX_COMMANDS + " commands in one line");
        }
        commands.add(new SimpleCommand(words.getFirst(), words.subList(1, words.size())));
    }

    private void target(RedirectOperator operator) {
        if (!(peek() instanceof Word target)) {
            throw new NotUnderstood("The redirection '" + operator.text() + "' needs a file");
        }
        at++;
        if (operator.duplicates()) {
            checkDuplicate(operator, target);
        } else if (target.isGlob() || target.text().isEmpty()) {
            throw new NotUnderstood("The target of '" + operator.text() + "' must be one literal file name");
        } else if (target.text().startsWith("/dev/") && !DEVICES.contains(target.text())) {
            throw new NotUnderstood(
                    "Redirecting to or from " + CommandNames.quoted(target.text()) + " is not accepted");
        }
    }

    private static void checkDuplicate(RedirectOperator operator, Word target) {
        if (!target.isPlain() || !(target.text().equals("1") || target.text().equals("2"))) {
            throw new NotUnderstood("'" + operator.text() + "' may only be followed by 1 or 2");
        }
    }

    private void skipNewlines() {
        while (peek() == Separator.NEWLINE) {
            at++;
        }
    }

    private Token peek() {
        return tokens.get(at);
    }

    private static NotUnderstood nothingAfter(Separator separator) {
        return new NotUnderstood("A command is missing after '" + separator.text() + "'");
    }

    private static NotUnderstood nothingBefore(Separator separator) {
        return new NotUnderstood("A command is missing before '" + separator.text() + "'");
    }
}
