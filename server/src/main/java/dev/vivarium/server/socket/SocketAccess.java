package dev.vivarium.server.socket;

import dev.vivarium.core.access.Scope;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;

/// By what right a client uses a socket: who it is, what it showed, the scope it needs, and the access that closes the
/// socket when the right is lost. Immutable.
record SocketAccess(Caller caller, Credential credential, Scope needed, Access access) implements AutoCloseable {
    @Override
    public String toString() {
        return "Permit[" + caller.principal().map(who -> who.name().value()).orElse("") + "]";
    }

    /// Idempotent.
    @Override
    public void close() {
        access.close();
    }
}
