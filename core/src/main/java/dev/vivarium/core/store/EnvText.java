package dev.vivarium.core.store;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/// Codec of an environment in one column: `NAME=value` pairs joined by `&`, each part percent-encoded. Stateless.
final class EnvText {
    private EnvText() {}

    static String encode(Map<String, String> env) {
        var text = new StringBuilder();
        // Sorted, so that equal environments have equal text.
        new TreeMap<>(env)
                .forEach((name, value) -> text.append(text.isEmpty() ? "" : "&")
                        .append(escape(name))
                        .append('=')
                        .append(escape(value)));
        return text.toString();
    }

    static Map<String, String> decode(String text) {
        var env = new HashMap<String, String>();
        for (String pair : text.isEmpty() ? new String[0] : text.split("&", -1)) {
            int equals = pair.indexOf('=');
            env.put(unescape(pair.substring(0, equals)), unescape(pair.substring(equals + 1)));
        }
        return env;
    }

    private static String escape(String part) {
        return URLEncoder.encode(part, StandardCharsets.UTF_8);
    }

    private static String unescape(String part) {
        return URLDecoder.decode(part, StandardCharsets.UTF_8);
    }
}
