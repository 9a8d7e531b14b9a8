package dev.vivarium.server.preview;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/// Address of one port of one sandbox. Immutable.
///
/// Clients see `origin` and, on a shared origin, the path `prefix`. The program sees itself on `localhost`.
record PreviewAddress(String sandbox, int port, String origin, String prefix) {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "[::]");

    /// Reports whether the program shares its origin with the API and with other sandboxes.
    boolean sharesOrigin() {
        return !prefix.isEmpty();
    }

    /// Reports whether browsers treat the origin as secure and keep secure cookies for it.
    boolean isTrusted() {
        String host =
                Optional.ofNullable(URI.create(origin).getHost()).orElse("").toLowerCase(Locale.ROOT);
        return origin.startsWith("https:") || host.equals("localhost") || host.endsWith(".localhost");
    }

    /// Returns the path that contains all pages of this address.
    String root() {
        return prefix + "/";
    }

    /// Returns the `Host` value for the program. Development servers refuse unknown host names.
    String innerHost() {
        return "localhost:" + port;
    }

    private String innerOrigin() {
        return "http://" + innerHost();
    }

    /// Rewrites the value of `Origin` or `Referer`, so that the program recognizes its own origin.
    String inward(String url) {
        if (url.equals(origin)) {
            return innerOrigin();
        }
        return url.startsWith(origin + root()) ? innerOrigin() + url.substring(origin.length() + prefix.length()) : url;
    }

    /// Rewrites the value of `Location` for the client. URLs of other origins do not change.
    String outward(String location) {
        try {
            var uri = new URI(location);
            return isOwn(uri) ? prefixed(uri) : location;
        } catch (URISyntaxException e) {
            // The client gets the invalid URL unchanged.
            return location;
        }
    }

    private boolean isOwn(URI uri) {
        String authority = uri.getRawAuthority();
        if (authority == null) {
            return uri.getScheme() == null && location(uri).startsWith("/");
        }
        String host = Optional.ofNullable(uri.getHost()).orElse("").toLowerCase(Locale.ROOT);
        boolean inner = uri.getPort() == port && LOOPBACK.contains(host);
        return inner || origin.equals(uri.getScheme() + "://" + authority);
    }

    private String prefixed(URI uri) {
        String path = location(uri);
        boolean already = path.equals(prefix) || path.startsWith(root());
        return sharesOrigin() && already ? path : prefix + path;
    }

    private static String location(URI uri) {
        String path = uri.getRawPath().isEmpty() && uri.getRawAuthority() != null ? "/" : uri.getRawPath();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        return path + query + (uri.getRawFragment() == null ? "" : "#" + uri.getRawFragment());
    }
}
