package dev.vivarium.model;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import java.time.Instant;
import java.util.regex.Pattern;

/// Stored credential for one git host, without its token. Immutable.
///
/// @param host     host of the repositories, with its port if the port is not the default
/// @param username user name for git over HTTP
public record GitCredential(UserId owner, String name, String host, Forge forge, String username, Instant createdAt) {
    /// User name that GitHub and Gitea accept with a token as the password.
    public static final String USERNAME = "x-access-token";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._:\\[\\]-]{1,260}");
    private static final Pattern USER = Pattern.compile("[\\x21-\\x39\\x3b-\\x7e]{1,200}");
    private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]{8,4096}");

    /// API of the host.
    public enum Forge implements TextEnum {
        GITHUB,
        GITEA,
        /// A plain git server without an API.
        NONE;

        /// Returns the API of a host for which the user names none.
        public static Forge of(String host) {
            return host.equals("github.com") ? GITHUB : GITEA;
        }
    }

    public GitCredential {
        require(NAME.matcher(name).matches(), "name", "must be 1 to 64 letters, digits and '._-'");
        require(HOST.matcher(host).matches(), "host", "must be a host name, with a port if it is not the default");
        require(USER.matcher(username).matches(), "username", "must be 1 to 200 printable characters without ':'");
    }

    /// Fails with `InvalidRequest` if a text cannot be a token.
    public static void requireToken(String token) {
        require(TOKEN.matcher(token).matches(), "token", "must be 8 to 4096 printable characters without a space");
    }
}
