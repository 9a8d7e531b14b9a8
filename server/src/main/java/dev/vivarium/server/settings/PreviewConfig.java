package dev.vivarium.server.settings;

import java.time.Duration;

/// Settings of previews. Immutable.
///
/// @param domain part of a preview's host name after the port and the sandbox
/// @param secure whether clients reach the server by `https`
/// @param idle how long both sides of a connection may be silent
/// @param wakes whether a request resumes a paused sandbox
public record PreviewConfig(String domain, boolean secure, Duration idle, boolean wakes) {
    static PreviewConfig of(Settings settings) {
        return new PreviewConfig(
                settings.get(Catalogue.PREVIEW_DOMAIN),
                settings.get(Catalogue.PUBLIC_URL)
                        .map(url -> "https".equalsIgnoreCase(url.getScheme()))
                        .orElse(settings.get(Catalogue.TLS_CERT).isPresent()),
                settings.get(Catalogue.PREVIEW_IDLE),
                settings.get(Catalogue.WAKE_ON_TRAFFIC));
    }
}
