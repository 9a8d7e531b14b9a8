package dev.vivarium.core.image;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Minimal JSON parser for image indexes. Confined to one thread.
///
/// A value is a `Map`, a `List`, a `String`, or the text of a number or a literal.
final class JsonText {
    private static final int DEEPEST = 32;

    private final String text;
    private int at;

    private JsonText(String text) {
        this.text = text;
    }

    static Object parse(String text) throws IOException {
        var json = new JsonText(text);
        try {
            var value = json.value(0);
            json.skipSpace();
            if (json.at < text.length()) {
                throw json.damaged();
            }
            return value;
        } catch (StringIndexOutOfBoundsException | NumberFormatException e) {
            throw json.damaged();
        }
    }

    /// Returns the member of an object. Empty if `value` is not an object or has no such member.
    static Optional<Object> member(Object value, String name) {
        return value instanceof Map<?, ?> map ? Optional.ofNullable(map.get(name)) : Optional.empty();
    }

    /// Returns the strings of a list member.
    static List<String> strings(Object value, String name) {
        return list(value, name).stream().map(String::valueOf).toList();
    }

    static List<?> list(Object value, String name) {
        return member(value, name).orElse(List.of()) instanceof List<?> list ? list : List.of();
    }

    private Object value(int depth) throws IOException {
        skipSpace();
        if (depth > DEEPEST) {
            throw damaged();
        }
        return switch (text.charAt(at)) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            default -> word();
        };
    }

    private Map<String, Object> object(int depth) throws IOException {
        var members = new HashMap<String, Object>();
        for (boolean more = begin('}'); more; more = hasNext('}')) {
            skipSpace();
            var name = string();
            skipSpace();
            expect(':');
            members.put(name, value(depth + 1));
        }
        return members;
    }

    private List<Object> array(int depth) throws IOException {
        var items = new ArrayList<>();
        for (boolean more = begin(']'); more; more = hasNext(']')) {
            items.add(value(depth + 1));
        }
        return items;
    }

    /// Skips the opening bracket. Reports whether there is content.
    private boolean begin(char end) {
        at++;
        skipSpace();
        if (text.charAt(at) == end) {
            at++;
            return false;
        }
        return true;
    }

    private boolean hasNext(char end) throws IOException {
        skipSpace();
        char next = text.charAt(at++);
        if (next != ',' && next != end) {
            throw damaged();
        }
        return next == ',';
    }

    private String string() throws IOException {
        expect('"');
        var result = new StringBuilder();
        while (text.charAt(at) != '"') {
            char c = text.charAt(at++);
            result.append(c == '\\' ? escape() : c);
        }
        at++;
        return result.toString();
    }

    private char escape() {
        char c = text.charAt(at++);
        if (c == 'u') {
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        }
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            default -> c;
        };
    }

    private String word() throws IOException {
        int start = at;
        while (at < text.length() && ",]} \t\r\n:".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        if (at == start) {
            throw damaged();
        }
        return text.substring(start, at);
    }

    private void expect(char c) throws IOException {
        if (text.charAt(at++) != c) {
            throw damaged();
        }
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private IOException damaged() {
        return new IOException("damaged JSON at character " + at);
    }
}
