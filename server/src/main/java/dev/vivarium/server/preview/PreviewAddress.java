package dev.vivarium.server.preview;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/// One port of one sandbox, as the world outside sees it (`origin` and, where several share one, a path `prefix`) and
/// as the program sees itself: on `localhost`. Immutable.
record PreviewAddress(String sandbox, int port, String origin, String prefix) {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "[::]");

    /// Reports whether the program shares its origin with the API and with other sandboxes.
    boolean sharesOrigin() {
        return !prefix.isEmpty();
    }

    /// Reports whether browsers take what is sent to and fro for safe on its way, and keep secure cookies for it.
    boolean isTrusted() {
        String host =
                Optional.ofNullable(URI.create(origin).getHost()).orElse("").toLowerCase(Locale.ROOT);
        return origin.startsWith("https:") || host.equals("localhost") || host.endsWith(".localhost");
    }

    /// The path below which everything of this address lies.
    String root() {
        return prefix + "/";
    }

    /// The authority that the program is told it has. A development server refuses names that it does not know.
    String innerHost() {
        return "localhost:" + port;
    }

    private String innerOrigin() {
        return "http://" + innerHost();
    }

    /// The value of `Origin` or `Referer` as the program must see it to find that it came from itself.
    String inward(String url) {
        if (url.equals(origin)) {
            return innerOrigin();
        }
        return url.startsWith(origin + root()) ? innerOrigin() + url.substring(origin.length() + prefix.length()) : url;
    }

    /// The value of `Location` as the world outside must see it. What leads elsewhere is left alone.
    String outward(String location) {
        try {
            var uri = new URI(location);
            return isOwn(uri) ? prefixed(uri) : location;
        } catch (URISyntaxException e) {
            // Not ours to mend: the browser decides what it makes of it.
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
