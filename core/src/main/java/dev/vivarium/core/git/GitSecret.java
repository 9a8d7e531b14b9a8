package dev.vivarium.core.git;

import dev.vivarium.model.GitCredential;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/// Credential with its token. Immutable.
public record GitSecret(GitCredential info, String token) {
    /// Returns the `Authorization` header for git over HTTP.
    String basic() {
        byte[] both = (info.username() + ":" + token).getBytes(StandardCharsets.UTF_8);
        return "Basic " + Base64.getEncoder().encodeToString(both);
    }

    /// Returns the `Authorization` header for the API of the forge.
    String api() {
        return switch (info.forge()) {
            case GITHUB -> "Bearer " + token;
            case GITEA, NONE -> "token " + token;
        };
    }

    /// Omits the token.
    @Override
    public String toString() {
        return "GitSecret[" + info + ", ***]";
    }
}
