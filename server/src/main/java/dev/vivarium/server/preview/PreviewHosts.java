package dev.vivarium.server.preview;

import dev.vivarium.model.SandboxId;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// Host names of previews, such as `3000-sbx….localhost`. Immutable.
public final class PreviewHosts {
    private final String suffix;

    /// `domain` is the part after the first dot.
    public PreviewHosts(String domain) {
        this.suffix = "." + domain.toLowerCase(Locale.ROOT);
    }

    /// Returns the sandbox and the port in a `Host` header, as route parameters. Returns nothing for any other
    /// host.
    public Optional<Map<String, String>> find(String host) {
        String name = withoutPort(host).toLowerCase(Locale.ROOT);
        if (!name.endsWith(suffix)) {
            return Optional.empty();
        }
        String label = name.substring(0, name.length() - suffix.length());
        int dash = label.indexOf('-');
        String sandbox = label.substring(dash + 1);
        return dash >= 0 && SandboxId.isWellFormed(sandbox)
                ? Optional.of(Map.of("sandbox_id", sandbox, "port", label.substring(0, dash)))
                : Optional.empty();
    }

    private static String withoutPort(String host) {
        int colon = host.indexOf(':');
        return colon < 0 ? host : host.substring(0, colon);
    }
}
