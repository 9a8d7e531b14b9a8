package dev.vivarium.cli;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.net.URI;
import java.util.Optional;

/// Server and user of a command. Immutable.
///
/// @param profile    name of the profile, which also separates cached tokens
/// @param key        absent if no key was found; only open routes then work
/// @param user       owner of a new thread, if set; otherwise the user of the key
/// @param owner      owner of the thread, if set; otherwise the server resolves the name
/// @param missingKey error message if a key is required
record Account(
        String profile,
        URI server,
        Optional<String> key,
        Optional<String> user,
        Optional<String> owner,
        String missingKey) {
    String requireKey() {
        return key.orElseThrow(() -> new SandboxException(new Failure.NotAuthenticated(missingKey)));
    }

    @Override
    public String toString() {
        return "Account[" + profile + ", " + server + ", " + user + "]";
    }
}
