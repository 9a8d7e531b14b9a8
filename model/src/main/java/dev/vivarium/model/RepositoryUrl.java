package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Address of a git repository over HTTP. Immutable.
///
/// The parser is strict, so that no other parser can interpret the same text differently.
///
/// @param path path of the repository on its host, with its leading slash
public record RepositoryUrl(boolean isTls, HostName host, int port, String path) {
    private static final int TLS_PORT = 443;
    private static final int PLAIN_PORT = 80;
    private static final int MAX_PORT = 65_535;
    private static final int MAX_LENGTH = 1000;
    private static final String FIELD = "repository.url";
    private static final Pattern URL =
            Pattern.compile("(https?)://(\\[[0-9A-Fa-f:.]+]|[^/?#@:\\[\\]]+)(?::([0-9]{1,5}))?(/[^?#]*)");
    private static final Pattern SEGMENTS = Pattern.compile("(/[A-Za-z0-9_~][A-Za-z0-9._~+-]*)+");
    private static final String SUFFIX = ".git";

    /// Parses the URL of a request.
    public static RepositoryUrl of(String text) {
        require(text.length() <= MAX_LENGTH, FIELD, "must be at most " + MAX_LENGTH + " characters");
        require(
                !text.matches("[a-z]+://[^/]*@.*"),
                FIELD,
                "must not contain a user name or a password; store the token with POST /api/v1/git/credentials");
        Matcher url = URL.matcher(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
        require(
                url.matches(),
                FIELD,
                "must be an http or https URL such as https://github.com/owner/name; ssh, git and file URLs are not"
                        + " supported");
        String path = url.group(4);
        require(
                SEGMENTS.matcher(path).matches() && !path.contains(".."),
                FIELD,
                "must have a path of letters, digits and '._~+-', such as /owner/name");
        boolean isTls = url.group(1).equals("https");
        int usual = isTls ? TLS_PORT : PLAIN_PORT;
        return new RepositoryUrl(isTls, host(url.group(2)), url.group(3) == null ? usual : port(url.group(3)), path);
    }

    private static HostName host(String text) {
        try {
            return HostName.of(text);
        } catch (IllegalArgumentException e) {
            throw SandboxException.invalid(FIELD, "has a host that " + e.getMessage());
        }
    }

    private static int port(String text) {
        int port = Integer.parseInt(text);
        require(port >= 1 && port <= MAX_PORT, FIELD, "must have a port between 1 and " + MAX_PORT);
        return port;
    }

    /// Returns host and port. Omits the port if it is the default of the scheme.
    public String authority() {
        return port == (isTls ? TLS_PORT : PLAIN_PORT) ? host.text() : host.text() + ":" + port;
    }

    public String origin() {
        return (isTls ? "https://" : "http://") + authority();
    }

    /// Returns the name of the repository, which is also the name of the directory of a clone.
    public String name() {
        return segments().getLast();
    }

    /// Returns the segments of the path, without the suffix `.git` of the last one.
    public List<String> segments() {
        String plain = path.endsWith(SUFFIX) ? path.substring(0, path.length() - SUFFIX.length()) : path;
        return List.of(plain.substring(1).split("/"));
    }

    /// Returns the URL without the suffix `.git`, or with it if the URL has none.
    public String withOtherSuffix() {
        return path.endsWith(SUFFIX)
                ? origin() + path.substring(0, path.length() - SUFFIX.length())
                : origin() + path + SUFFIX;
    }

    @Override
    public String toString() {
        return origin() + path;
    }
}
