package dev.vivarium.server.api;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;

import dev.vivarium.json.ObjectType;
import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import java.net.URI;
import java.util.Optional;
import java.util.regex.Pattern;

/// Addresses of the routes of a sandbox, as clients reach them: at the configured public URL, or at the host of the
/// request. Immutable.
public final class Endpoints {
    static final ObjectType<Urls> URLS = object("", field("http", STRING, Urls::http), field("ws", STRING, Urls::ws));

    /// Base addresses of the routes of one sandbox.
    record Urls(String http, String ws) {}

    /// Valid `Host` headers. Other values are not repeated in responses.
    private static final Pattern HOST =
            Pattern.compile("[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\\[[0-9a-fA-F:.]+](:[0-9]{1,5})?");

    private final Optional<URI> publicUrl;

    public Endpoints(Optional<URI> publicUrl) {
        this.publicUrl = publicUrl;
    }

    /// Returns the address of a port, with `{port}` in place of its number.
    String preview(Exchange exchange, SandboxId sandbox) {
        return http(exchange, sandbox) + "/ports/{port}/";
    }

    String http(Exchange exchange, SandboxId sandbox) {
        return base(exchange) + "/sandboxes/" + sandbox;
    }

    Urls of(Exchange exchange, SandboxId sandbox) {
        String http = http(exchange, sandbox);
        // http becomes ws, https becomes wss.
        return new Urls(http, "ws" + http.substring("http".length()) + "/shell");
    }

    private String base(Exchange exchange) {
        return publicUrl
                .map(URI::toString)
                .orElseGet(() -> (exchange.request().isSecure() ? "https://" : "http://")
                        + exchange.header("Host")
                                .filter(host -> HOST.matcher(host).matches())
                                .orElse("localhost"));
    }
}
