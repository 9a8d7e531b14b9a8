package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import java.net.URI;
import java.util.Optional;
import java.util.Set;

/// Host names where a server shows the ports of sandboxes. Immutable.
///
/// @param isSecure whether the scheme is `https`
public record PreviewHosts(String domain, boolean isSecure) {
    private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "[::1]");

    static PreviewHosts read(JsonFields session) {
        JsonFields previews = session.object("server").object("previews");
        return new PreviewHosts(previews.string("domain"), previews.flag("is_secure"));
    }

    /// The address of a port, without a last slash. Nothing if it would name the machine of the reader: names below
    /// `localhost` do, and `server` may be on another machine.
    public Optional<String> address(URI server, String sandbox, int port) {
        boolean isLocal = domain.equals("localhost") || domain.endsWith(".localhost");
        if (isLocal && !LOCAL.contains(server.getHost())) {
            return Optional.empty();
        }
        String behind = server.getPort() < 0 ? "" : ":" + server.getPort();
        return Optional.of((isSecure ? "https" : "http") + "://" + port + "-" + sandbox + "." + domain + behind);
    }
}
