package dev.vivarium.policy;

/// Parser of sed scripts that rejects commands that run programs (`e`), write files (`w`, `W`) or are unknown. Confined
/// to one thread.
///
/// It parses each line separately and rejects a line that continues on the next. Parsers that disagree on the end of a
/// text or a label then still agree on the start of a line.
final class SedScript {
    private static final String ALONE = "=dDgGhHnNpPxzF";
    private static final String NUMBERED = "lqQ";
    private static final String TEXT = "aic";
    private static final String LABELLED = ":btT";
    private static final String SUBSTITUTE_FLAGS = "gpiImM0123456789";
    private static final String LABEL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    private static final String DELIMITERS = "/|,:@#!%_+=~^&-";

    private final String line;
    private int at;

    private SedScript(String line) {
        this.line = line;
    }

    static void check(String script) {
        for (String line : script.split("\n", -1)) {
            if (line.endsWith("\\")) {
                throw refused("a line that ends with a backslash");
            }
            new SedScript(line).all();
        }
    }

    private void all() {
        skip(" \t;");
        while (at < line.length() && peek() != '#') {
            addresses();
            command();
            skip(" \t;");
        }
    }

    private void addresses() {
        if (address()) {
            skip(" \t");
            if (peek() == ',') {
                at++;
                skip(" \t");
                if (!address()) {
                    throw refused("an unreadable address");
                }
            }
        }
        skip(" \t!");
    }

    private boolean address() {
        char c = peek();
        if (c == '/') {
            regularExpression('/');
            skip("IM");
        } else if (c == '\\') {
            at++;
            regularExpression(peek());
            skip("IM");
        } else if (c == '$') {
            at++;
        } else if (isDigit(c) || c == '+' || c == '~') {
            at++;
            skip("0123456789~");
        } else {
            return false;
        }
        return true;
    }

    private void command() {
        char name = peek();
        at++;
        if (name == '{' || name == '}') {
            return;
        }
        if (TEXT.indexOf(name) >= 0) {
            text(name);
        } else if (name == 's' || name == 'y') {
            substitute(name);
        } else if (LABELLED.indexOf(name) >= 0) {
            skip(" \t");
            skip(LABEL);
            end();
        } else if (NUMBERED.indexOf(name) >= 0) {
            skip(" \t");
            skip("0123456789");
            end();
        } else if (ALONE.indexOf(name) >= 0) {
            end();
        } else {
            throw refused(at > line.length() ? "an address without a command" : "the command " + shown(name));
        }
    }

    /// The rest of the line is text. If it is empty, some implementations take the next line.
    private void text(char name) {
        if (line.substring(at).isBlank()) {
            throw refused("'" + name + "' without a text on the same line");
        }
        at = line.length();
    }

    private void substitute(char name) {
        char delimiter = peek();
        regularExpression(delimiter);
        at--;
        delimited(delimiter);
        if (name == 's') {
            skip(SUBSTITUTE_FLAGS);
        }
        end();
    }

    /// Some implementations accept the delimiter between brackets and some do not, so the expression must mean the
    /// same to both.
    private void regularExpression(char delimiter) {
        int start = at + 1;
        delimited(delimiter);
        if (!bracketsAreClosed(line.substring(start, at - 1))) {
            throw refused("an expression with an unclosed bracket");
        }
    }

    /// Moves from the opening delimiter to just after the closing one.
    private void delimited(char delimiter) {
        if (DELIMITERS.indexOf(delimiter) < 0) {
            throw refused("the delimiter " + shown(delimiter));
        }
        for (at++; at < line.length(); at++) {
            if (line.charAt(at) == delimiter) {
                at++;
                return;
            }
            if (line.charAt(at) == '\\') {
                at++;
            }
        }
        throw refused("an expression without its end");
    }

    private static boolean bracketsAreClosed(String expression) {
        int i = 0;
        while (i < expression.length()) {
            char c = expression.charAt(i);
            if (c == '[') {
                i = afterBracket(expression, i);
                if (i < 0) {
                    return false;
                }
            } else {
                i += c == '\\' ? 2 : 1;
            }
        }
        return true;
    }

    /// Returns the index after the bracket expression that opens at `open`, or -1 if it is not closed
    /// unambiguously.
    private static int afterBracket(String expression, int open) {
        int i = open + 1;
        if (expression.startsWith("^", i)) {
            i++;
        }
        if (expression.startsWith("]", i)) {
            i++;
        }
        while (i < expression.length() && expression.charAt(i) != ']') {
            boolean named = expression.startsWith("[:", i);
            int close = named ? expression.indexOf(":]", i + 2) : i;
            boolean doubtful =
                    expression.startsWith("\\]", i) || expression.startsWith("[.", i) || expression.startsWith("[=", i);
            if (doubtful || close < 0) {
                return -1;
            }
            i = named ? close + 2 : i + 1;
        }
        return i < expression.length() ? i + 1 : -1;
    }

    private void end() {
        skip(" \t");
        if (at < line.length() && ";}#".indexOf(peek()) < 0) {
            throw refused(shown(peek()) + " after a command");
        }
    }

    private void skip(String characters) {
        while (at < line.length() && characters.indexOf(line.charAt(at)) >= 0) {
            at++;
        }
    }

    /// Returns the current character, or a newline at the end of the line.
    private char peek() {
        return at < line.length() ? line.charAt(at) : '\n';
    }

    private static String shown(char c) {
        return CommandNames.quoted(String.valueOf(c));
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static NotUnderstood refused(String what) {
        return new NotUnderstood("sed scripts with " + what + " are not accepted under this policy");
    }
}
