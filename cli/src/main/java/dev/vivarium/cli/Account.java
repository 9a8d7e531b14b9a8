package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.net.URI;
import java.util.Optional;

/// A server and who one is there. Immutable.
///
/// @param profile the name it goes by, which also separates what is cached for it
/// @param key nothing if none was found; then only what is open to all can be asked
/// @param user on whose behalf a new thread begins, if somebody said so; else it is the key's own user
/// @param missingKey what to say when one is needed
record Account(String profile, URI server, Optional<String> key, Optional<String> user, String missingKey) {
    String requireKey() {
        return key.orElseThrow(() -> new SandboxException(new Failure.NotAuthenticated(missingKey)));
    }

    @Override
    public String toString() {
        return "Account[" + profile + ", " + server + ", " + user + "]";
    }
}
