package dev.vivarium.server.http;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;

/// Extraction of the one key, token or session of a request. Immutable.
public final class Credentials {
    /// Session cookie of a signed-in browser.
    public static final String COOKIE = "viv_session";

    /// Session cookie for `https`. Pages of other hosts cannot set a cookie with this prefix.
    public static final String SECURE_COOKIE = "__Host-" + COOKIE;

    private static final String SCHEME = "bearer ";
    private static final String API_KEY = "X-API-Key";

    private final Origins origins;

    Credentials(Origins origins) {
        this.origins = origins;
    }

    /// Returns the credential in a header, or else in a cookie. Throws `NotAuthenticated` if the request has no
    /// credential.
    Credential of(Request request) {
        HttpFields headers = request.getHeaders();
        return session(request).orElseGet(() -> new Credential.Shown(key(headers)));
    }

    /// Returns the browser session, unless the request has another credential. Requests from inside a sandbox have
    /// no session.
    Optional<Credential> session(Request request) {
        HttpFields headers = request.getHeaders();
        if (!headers.contains(HttpHeader.COOKIE)
                || headers.contains(HttpHeader.AUTHORIZATION)
                || headers.contains(API_KEY)
                || InsideEndPoint.of(request).isPresent()) {
            return Optional.empty();
        }
        return sessionId(headers)
                .map(id -> origins.isOurs(request) ? new Credential.Session(id) : new Credential.Foreign());
    }

    /// Returns the session id in the cookies. Two different ids are refused, because another page must have set one
    /// of them.
    private Optional<String> sessionId(HttpFields headers) {
        List<String> secure = cookies(headers, SECURE_COOKIE);
        List<String> ids = secure.isEmpty() && !origins.isAlwaysSecure() ? cookies(headers, COOKIE) : secure;
        if (ids.size() > 1) {
            throw refused("the request carries more than one session");
        }
        return ids.stream().findFirst();
    }

    private static List<String> cookies(HttpFields headers, String name) {
        return headers.getValuesList(HttpHeader.COOKIE).stream()
                .flatMap(line -> Stream.of(line.split(";")))
                .map(String::strip)
                .filter(pair -> pair.startsWith(name + "="))
                .map(pair -> pair.substring(name.length() + 1))
                .distinct()
                .toList();
    }

    /// Returns the key in `Authorization: Bearer` or `X-API-Key`. Two different keys are refused, because a proxy
    /// may have used the other one.
    static String key(HttpFields headers) {
        var keys = new TreeSet<String>(headers.getValuesList(API_KEY));
        for (String value : headers.getValuesList(HttpHeader.AUTHORIZATION)) {
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
