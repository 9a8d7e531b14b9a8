package dev.vivarium.core.egress;

import dev.vivarium.model.HostName;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Destination of a request: host, port and path. Immutable.
///
/// The parser is strict, so that no other parser can interpret the same text differently.
///
/// @param path request path; empty for a tunnel
record Destination(HostName host, int port, String path) {
    private static final int WEB = 80;
    private static final int MAX_PORT = 65_535;
    private static final Pattern AUTHORITY = Pattern.compile("(\\[[^\\[\\]@/?#]*]|[^\\[\\]:@/?#]+)(?::([0-9]{1,5}))?");
    private static final Pattern URL = Pattern.compile("(?i:http)://([^/?#]*)([/?][^#]*)?");

    /// Parses the target of a `CONNECT` request.
    static Destination ofTunnel(String target) {
        Matcher authority = AUTHORITY.matcher(target);
        if (!authority.matches() || authority.group(2) == null) {
            throw Rejection.malformed("CONNECT needs a host and a port, such as example.com:443");
        }
        return new Destination(host(authority.group(1)), port(authority.group(2)), "");
    }

    /// Parses the target of any other request.
    static Destination ofRequest(String target, boolean asksForOptions) {
        Matcher url = URL.matcher(target);
        if (!url.matches()) {
            String scheme = target.toLowerCase(Locale.ROOT).startsWith("https://")
                    ? "an https request needs CONNECT"
                    : "this is a proxy: it takes CONNECT, and requests with a whole URL that begins with http://";
            throw Rejection.malformed(scheme);
        }
        Matcher authority = AUTHORITY.matcher(url.group(1));
        if (!authority.matches()) {
            throw Rejection.malformed("the URL needs a host, perhaps a port, and nothing else before its path");
        }
        String path = url.group(2) == null ? (asksForOptions ? "*" : "/") : url.group(2);
        int port = authority.group(2) == null ? WEB : port(authority.group(2));
        return new Destination(host(authority.group(1)), port, path.startsWith("?") ? "/" + path : path);
    }

    private static HostName host(String text) {
        try {
            return HostName.of(text);
        } catch (IllegalArgumentException e) {
            throw Rejection.malformed("the host " + e.getMessage());
        }
    }

    private static int port(String text) {
        int port = Integer.parseInt(text);
        if (port < 1 || port > MAX_PORT) {
            throw Rejection.malformed("the port must be between 1 and " + MAX_PORT);
        }
        return port;
    }

    Destination at(int other) {
        return new Destination(host, other, path);
    }

    /// Returns the value of the `Host` header. Omits the port if it equals `usual`.
    String authority(int usual) {
        return port == usual ? host.text() : host.text() + ":" + port;
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
