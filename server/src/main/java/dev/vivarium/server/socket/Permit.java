package dev.vivarium.server.socket;

import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Watch;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;
import java.util.Optional;

/// By what right somebody is in a shell: who they are, what they showed, and what they need of it. `watch` tells when
/// a token ends; a key has none and is looked at now and then. Immutable.
record Permit(Caller caller, Credential credential, Scope needed, Optional<Watch> watch) implements AutoCloseable {
    @Override
    public String toString() {
        return "Permit[" + caller.principal().map(who -> who.name().value()).orElse("") + "]";
    }

    /// Nobody needs to know any more when it ends. Idempotent.
    @Override
    public void close() {
        watch.ifPresent(Watch::close);
    }
}
