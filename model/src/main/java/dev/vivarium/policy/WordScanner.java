package dev.vivarium.policy;

import dev.vivarium.policy.Token.Shape;
import dev.vivarium.policy.Token.Word;

/// Scanner of one word: literal characters, single quotes, double quotes without expansions, escapes and globs.
/// Confined to one thread.
final class WordScanner {
    /// Characters that are literal at any position of an unquoted argument.
    private static final String LITERAL_PUNCTUATION = "_-./,:+=@%^#";

    private static final String WORD_ENDS = " \t\n|&;()<>";

    private final String line;
    private final StringBuilder text = new StringBuilder();
    private int at;
    private Shape shape = Shape.PLAIN;

    WordScanner(String line, int start) {
        this.line = line;
        this.at = start;
    }

    /// Returns the index after the word. Valid after [#scan].
    int end() {
        return at;
    }

    Word scan() {
        int start = at;
        while (at < line.length() && WORD_ENDS.indexOf(line.charAt(at)) < 0) {
            switch (line.charAt(at)) {
                case '\'' -> singleQuotes();
                case '"' -> doubleQuotes();
                case '\\' -> escape();
                case '*', '?', '[', ']' -> glob(start);
                case '!' -> exclamation();
                default -> literal();
            }
        }
        return new Word(text.toString(), shape);
    }

    private void literal() {
        char c = line.charAt(at);
        if (!isAsciiLetterOrDigit(c) && LITERAL_PUNCTUATION.indexOf(c) < 0) {
            throw new NotUnderstood(whyNotLiteral(c));
        }
        text.append(c);
        at++;
    }

    private String whyNotLiteral(char c) {
        return switch (c) {
            case '$' -> expansion();
            case '`' -> "Command substitution is not accepted ('`')";
            case '{', '}' -> "Unquoted braces are not accepted ('" + c + "'): no groups, no brace expansion";
            case '~' -> "Unquoted '~' is not accepted; quote it or write the directory";
            default -> "Characters beyond ASCII are accepted only inside quotes";
        };
    }

    private String expansion() {
        char next = at + 1 < line.length() ? line.charAt(at + 1) : ' ';
        return switch (next) {
            case '(' -> "Command substitution is not accepted ('$(')";
            case '{' -> "Parameter expansion is not accepted ('${')";
            case '[' -> "Arithmetic expansion is not accepted ('$[')";
            case '\'', '"' -> "'$' before a quote is not accepted";
            default -> "'$' is not accepted outside single quotes: no variables are expanded";
        };
    }

    private void singleQuotes() {
        int close = line.indexOf('\'', at + 1);
        if (close < 0) {
            throw new NotUnderstood("A single quote is not closed");
        }
        text.append(line, at + 1, close);
        at = close + 1;
        markQuoted();
    }

    private void doubleQuotes() {
        at++;
        while (at < line.length() && line.charAt(at) != '"') {
            switch (line.charAt(at)) {
                case '$' -> throw new NotUnderstood(expansion());
                case '`' -> throw new NotUnderstood("Command substitution is not accepted ('`')");
                case '\\' -> escapeInDoubleQuotes();
                case '!' -> exclamation();
                default -> text.append(line.charAt(at++));
            }
        }
        if (at == line.length()) {
            throw new NotUnderstood("A double quote is not closed");
        }
        at++;
        markQuoted();
    }

    /// Between double quotes a backslash escapes four characters and is literal before all others.
    private void escapeInDoubleQuotes() {
        char escaped = escaped();
        if ("$`\"\\".indexOf(escaped) < 0) {
            text.append('\\');
        }
        text.append(escaped);
        at += 2;
    }

    private void escape() {
        char escaped = escaped();
        if (escaped < ' ' || escaped > '~') {
            throw new NotUnderstood("A backslash may only escape a printable ASCII character");
        }
        text.append(escaped);
        at += 2;
        markQuoted();
    }

    private char escaped() {
        if (at + 1 == line.length()) {
            throw new NotUnderstood("A backslash at the end escapes nothing");
        }
        if (line.charAt(at + 1) == '\n') {
            throw new NotUnderstood("Line continuation is not accepted (backslash before a newline)");
        }
        return line.charAt(at + 1);
    }

    private void glob(int start) {
        if (at == start) {
            shape = Shape.LEADING_GLOB;
        } else if (shape != Shape.LEADING_GLOB) {
            // An empty quoted string in front adds no character: file names determine how ''* begins.
            shape = text.isEmpty() ? Shape.LEADING_GLOB : Shape.GLOB;
        }
        text.append(line.charAt(at++));
    }

    /// An interactive shell would replace `!word` by its history, even between double quotes.
    private void exclamation() {
        char next = at + 1 < line.length() ? line.charAt(at + 1) : ' ';
        if (" \t\n=\"".indexOf(next) < 0) {
            throw new NotUnderstood("'!' before other characters is not accepted outside single quotes");
        }
        text.append('!');
        at++;
    }

    private void markQuoted() {
        if (shape == Shape.PLAIN) {
            shape = Shape.QUOTED;
        }
    }

    private static boolean isAsciiLetterOrDigit(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }
}
