package dev.vivarium.server.api;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// `Content-Disposition` header with a file name. Immutable.
///
/// Written names are escaped, so that no name can end its parameter. Names are parsed as browsers and libraries write
/// them.
record ContentDisposition(Map<String, String> parameters) {
    private static final String UNRESERVED = "!#$&+-.^_`|~";

    /// Returns `attachment` with the last part of `path` as the name: in ASCII for old clients and in UTF-8 for
    /// others.
    static String attachment(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        var ascii = new StringBuilder();
        name.codePoints().forEach(c -> ascii.append(c >= ' ' && c < 0x7f && c != '"' && c != '\\' ? (char) c : '_'));
        return "attachment; filename=\"" + ascii + "\"; filename*=UTF-8''" + percentEncoded(name);
    }

    static ContentDisposition parse(String header) {
        var parameters = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
        int at = header.indexOf(';');
        while (at >= 0 && at < header.length()) {
            int equals = header.indexOf('=', at);
            if (equals < 0) {
                break;
            }
            String name = header.substring(at + 1, equals).strip();
            int end = valueEnd(header, equals + 1);
            parameters.put(name, unquoted(header.substring(equals + 1, end).strip()));
            at = header.indexOf(';', end);
        }
        return new ContentDisposition(parameters);
    }

    Optional<String> name() {
        return Optional.ofNullable(parameters.get("name"));
    }

    /// Returns the name of the file. The UTF-8 form takes precedence.
    Optional<String> filename() {
        String extended = parameters.get("filename*");
        if (extended != null && extended.toLowerCase(Locale.ROOT).startsWith("utf-8'")) {
            String encoded = extended.substring(extended.indexOf('\'', 6) + 1);
            return Optional.of(percentDecoded(encoded));
        }
        return Optional.ofNullable(parameters.get("filename"));
    }

    private static int valueEnd(String header, int from) {
        boolean quoted = false;
        for (int i = from; i < header.length(); i++) {
            char c = header.charAt(i);
            if (c == '\\' && quoted) {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == ';' && !quoted) {
                return i;
            }
        }
        return header.length();
    }

    /// Browsers escape a quote as `%22`, other programs as `\"`. A lone backslash is kept: it may be part of the
    /// name.
    private static String unquoted(String value) {
        if (value.length() < 2 || value.charAt(0) != '"' || !value.endsWith("\"")) {
            return value;
        }
        return value.substring(1, value.length() - 1)
                .replace("\\\"", "\"")
                .replace("\\\\", "\\")
                .replace("%22", "\"");
    }

    private static String percentEncoded(String name) {
        var text = new StringBuilder();
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            boolean plain = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z';
            if (plain || UNRESERVED.indexOf(c) >= 0) {
                text.append(c);
            } else {
                text.append("%%%02X".formatted(b & 0xff));
            }
        }
        return text.toString();
    }

    private static String percentDecoded(String text) {
        try {
            return java.net.URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return text;
        }
    }
}
