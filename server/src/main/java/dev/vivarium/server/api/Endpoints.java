package dev.vivarium.server.api;

import dev.vivarium.model.SandboxId;
import dev.vivarium.server.http.Exchange;
import java.net.URI;
import java.util.Optional;
import java.util.regex.Pattern;
import tools.jackson.core.JsonGenerator;

/// Where a sandbox's own routes are, as its clients see it: at the configured address, or else where the request came
/// to. Immutable.
public final class Endpoints {
    /// What a `Host` header may hold; anything else would only harm who sent it, but is not repeated.
    private static final Pattern HOST =
            Pattern.compile("[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\\[[0-9a-fA-F:.]+](:[0-9]{1,5})?");

    private final Optional<URI> publicUrl;

    public Endpoints(Optional<URI> publicUrl) {
        this.publicUrl = publicUrl;
    }

    /// The base of everything about one sandbox.
    String http(Exchange exchange, SandboxId sandbox) {
        return base(exchange) + "/sandboxes/" + sandbox;
    }

    void write(JsonGenerator out, Exchange exchange, SandboxId sandbox) {
        String http = http(exchange, sandbox);
        out.writeObjectPropertyStart("endpoints");
        out.writeStringProperty("http", http);
        // http becomes ws, https becomes wss.
        out.writeStringProperty("ws", "ws" + http.substring("http".length()) + "/shell");
        out.writeEndObject();
    }

    private String base(Exchange exchange) {
        return publicUrl
                .map(URI::toString)
                .orElseGet(() -> "http://"
                        + exchange.header("Host")
                                .filter(host -> HOST.matcher(host).matches())
                                .orElse("localhost"));
    }
}
