package dev.vivarium.policy;

import dev.vivarium.policy.Token.RedirectOperator;
import dev.vivarium.policy.Token.Separator;
import dev.vivarium.policy.Token.Word;
import java.util.ArrayList;
import java.util.List;

/// Lexer that splits a command line into tokens exactly as bash does, for the part of the grammar that needs no
/// evaluation. Confined to one thread.
///
/// It rejects the line at the first character of any other part. It reads every character once, so the time is linear.
/// It rejects all text that two shells, two locales or two settings could interpret differently.
final class ShellLexer {
    private static final String IO_NUMBER_OUT = "12";

    private final String line;
    private int at;

    private ShellLexer(String line) {
        this.line = line;
    }

    /// Returns the tokens of `line`; the last one is [Separator#END].
    static List<Token> tokens(String line) {
        CharacterRules.check(line);
        return new ShellLexer(line).all();
    }

    private List<Token> all() {
        List<Token> tokens = new ArrayList<>();
        skipBlanks();
        while (at < line.length()) {
            tokens.add(next());
            skipBlanks();
        }
        tokens.add(Separator.END);
        return tokens;
    }

    private void skipBlanks() {
        while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) {
            at++;
        }
    }

    private Token next() {
        return switch (line.charAt(at)) {
            case '\n' -> take(Separator.NEWLINE, 1);
            case ';' -> semicolon();
            case '|' -> pipe();
            case '&' -> ampersand();
            case '<' -> input("");
            case '>' -> output("");
            case '(', ')' -> throw new NotUnderstood("Parentheses are not accepted: no subshells, functions or arrays");
            case '#' -> throw new NotUnderstood("Comments are not accepted");
            default -> wordOrNumberedRedirect();
        };
    }

    private Separator take(Separator separator, int length) {
        at += length;
        return separator;
    }

    private Token semicolon() {
        if (peek(1) == ';' || peek(1) == '&') {
            throw new NotUnderstood("Compound commands are not accepted (';;')");
        }
        return take(Separator.SEMICOLON, 1);
    }

    private Token pipe() {
        if (peek(1) == '&') {
            throw new NotUnderstood("'|&' is not accepted; write '2>&1 |'");
        }
        return peek(1) == '|' ? take(Separator.OR, 2) : take(Separator.PIPE, 1);
    }

    private Token ampersand() {
        if (peek(1) == '&') {
            return take(Separator.AND, 2);
        }
        throw new NotUnderstood(
                peek(1) == '>'
                        ? "'&>' is not accepted; write '> file 2>&1'"
                        : "Background commands are not accepted ('&')");
    }

    private Token input(String number) {
        switch (peek(1)) {
            case '<' -> throw new NotUnderstood("Here-documents and here-strings are not accepted ('<<')");
            case '(' -> throw new NotUnderstood("Process substitution is not accepted ('<(')");
            case '>', '&' -> throw new NotUnderstood("Only the redirections <, >, >>, 2>, 2>> and 2>&1 are accepted");
            default -> at++;
        }
        return new RedirectOperator(number + "<");
    }

    private Token output(String number) {
        switch (peek(1)) {
            case '(' -> throw new NotUnderstood("Process substitution is not accepted ('>(')");
            case '|' -> throw new NotUnderstood("Only the redirections <, >, >>, 2>, 2>> and 2>&1 are accepted");
            case '>' -> {
                at += 2;
                return new RedirectOperator(number + ">>");
            }
            case '&' -> {
                at += 2;
                return new RedirectOperator(number + ">&");
            }
            default -> at++;
        }
        return new RedirectOperator(number + ">");
    }

    private Token wordOrNumberedRedirect() {
        var scanner = new WordScanner(line, at);
        Word word = scanner.scan();
        at = scanner.end();
        boolean redirectFollows = peek(0) == '<' || peek(0) == '>';
        if (!redirectFollows || !word.isPlain() || !isNumber(word.text())) {
            return word;
        }
        if (peek(0) == '<' && word.text().equals("0")) {
            return input("0");
        }
        if (peek(0) == '>' && word.text().length() == 1 && IO_NUMBER_OUT.contains(word.text())) {
            return output(word.text());
        }
        throw new NotUnderstood(
                "File descriptor " + CommandNames.quoted(word.text()) + " cannot be redirected; only 0, 1 and 2");
    }

    private static boolean isNumber(String text) {
        return text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /// Returns the character at offset `ahead`, or a newline at the end, which no operator contains.
    private char peek(int ahead) {
        return at + ahead < line.length() ? line.charAt(at + ahead) : '\n';
    }
}
