package dev.vivarium.server.http;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.eclipse.jetty.http.HttpFields;

/// Finds the one key that a request carries. Stateless.
final class Credentials {
    private static final String SCHEME = "bearer ";

    private Credentials() {}

    /// The key of `Authorization: Bearer` or `X-API-Key`. Two that differ are refused: whichever one we took,
    /// something in between may have meant the other.
    static String key(HttpFields headers) {
        var keys = new TreeSet<String>(headers.getValuesList("X-API-Key"));
        for (String value : headers.getValuesList("Authorization")) {
            keys.add(bearer(value));
        }
        if (keys.isEmpty()) {
            throw refused("an API key or a token is needed: send 'Authorization: Bearer KEY' or 'X-API-Key: KEY'");
        }
        if (keys.size() > 1) {
            throw refused("the request carries more than one key");
        }
        return List.copyOf(keys).getFirst();
    }

    private static String bearer(String value) {
        if (!value.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
            throw refused("the Authorization header must be 'Bearer KEY'");
        }
        return value.substring(SCHEME.length()).strip();
    }

    private static SandboxException refused(String why) {
        return new SandboxException(new Failure.NotAuthenticated(why));
    }
}
