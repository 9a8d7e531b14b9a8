package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// Request for a webhook, without its secret. Immutable.
///
/// @param url        where the server sends events, by `http` or `https`
/// @param eventTypes types, prefixes that end with a dot, or names of other systems; empty for all events
public record NewWebhook(URI url, List<String> eventTypes, Format format) {
    private static final int MAX_URL = 2000;
    private static final int MAX_TYPES = 100;
    private static final int MAX_TYPE = 100;
    private static final int MAX_PORT = 65_535;
    private static final Set<String> SCHEMES = Set.of("http", "https");

    /// Form of the request body.
    public enum Format implements TextEnum {
        /// The event as in the feed.
        JSON,
        /// `{"text": …}` with a sentence, which Slack shows.
        SLACK
    }

    public NewWebhook {
        eventTypes = List.copyOf(eventTypes);
        require(eventTypes.size() <= MAX_TYPES, "event_types", "must have at most " + MAX_TYPES + " entries");
        for (String type : eventTypes) {
            require(
                    type.matches("[a-zA-Z0-9_.]{1," + MAX_TYPE + "}(\\*)?"),
                    "event_types",
                    "must hold event types, or prefixes such as `task.`");
        }
        requireUrl(url);
    }

    private static void requireUrl(URI url) {
        require(url.toString().length() <= MAX_URL, "url", "must be at most " + MAX_URL + " characters");
        require(
                url.getScheme() != null && SCHEMES.contains(url.getScheme().toLowerCase(Locale.ROOT)),
                "url",
                "must begin with https:// or http://");
        require(url.getRawUserInfo() == null, "url", "must not contain a user name or a password");
        require(url.getRawFragment() == null, "url", "must not have a fragment");
        require(url.getHost() != null && !url.getHost().isEmpty(), "url", "must have a host");
        require(url.getPort() == -1 || url.getPort() >= 1 && url.getPort() <= MAX_PORT, "url", "has an invalid port");
        try {
            HostName.of(url.getHost());
        } catch (IllegalArgumentException e) {
            throw new SandboxException(new Failure.InvalidRequest("url", "has an invalid host: " + e.getMessage()), e);
        }
    }

    /// Parses the URL of a request. Fails with `InvalidRequest`.
    public static URI url(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new SandboxException(new Failure.InvalidRequest("url", "must be a URL: " + e.getReason()), e);
        }
    }

    public boolean isSecure() {
        return url.getScheme().equalsIgnoreCase("https");
    }

    public HostName host() {
        return HostName.of(url.getHost());
    }

    public int port() {
        return url.getPort() > 0 ? url.getPort() : isSecure() ? 443 : 80;
    }

    /// Returns the path and the query, as a request line has them.
    public String path() {
        URI ascii = URI.create(url.toASCIIString());
        String path = ascii.getRawPath() == null || ascii.getRawPath().isEmpty() ? "/" : ascii.getRawPath();
        return ascii.getRawQuery() == null ? path : path + "?" + ascii.getRawQuery();
    }
}
