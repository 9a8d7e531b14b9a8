package dev.vivarium.server.http;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.SandboxException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Parsing of raw paths and queries. Stateless.
///
/// It splits first and then decodes exactly once. An encoded slash is part of a name, and no second decoding can turn a
/// name into a path.
final class Paths {
    private Paths() {}

    /// Returns the encoded segments between the slashes, without the first slash.
    static List<String> split(String path) {
        return List.of(path.substring(1).split("/", -1));
    }

    static String decode(String field, String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        var bytes = ByteBuffer.allocate(text.length() * 3);
        for (int i = 0; i < text.length(); i++) {
            int c = text.codePointAt(i);
            if (c == '%') {
                bytes.put((byte) hex(field, text, i + 1));
                i += 2;
            } else {
                bytes.put(Character.toString(c).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(c) - 1;
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException e) {
            throw SandboxException.invalid(field, "must be UTF-8 when percent-decoded");
        }
    }

    static Map<String, String> query(String query) {
        var parameters = new LinkedHashMap<String, String>();
        for (String pair : new ArrayList<>(List.of(query.split("&")))) {
            if (pair.isEmpty()) {
                continue;
            }
            int equals = pair.indexOf('=');
            String name = form(equals < 0 ? pair : pair.substring(0, equals));
            String value = equals < 0 ? "" : form(pair.substring(equals + 1));
            require(parameters.put(name, value) == null, name, "must be given once");
        }
        return parameters;
    }

    private static String form(String text) {
        return decode("query", text.replace('+', ' '));
    }

    private static int hex(String field, String text, int at) {
        int high = at + 1 < text.length() ? Character.digit(text.charAt(at), 16) : -1;
        int low = high < 0 ? -1 : Character.digit(text.charAt(at + 1), 16);
        require(low >= 0, field, "holds a '%' without two hexadecimal digits");
        return high << 4 | low;
    }
}
