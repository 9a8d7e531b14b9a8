package dev.vivarium.server.socket;

import dev.vivarium.core.access.Principal;
import dev.vivarium.server.http.Access;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.http.Credential;

/// Right of the client of a socket: who it is, its credential, and the access that reports the loss. Immutable.
record SocketAccess(Caller caller, Credential credential, Access access) {
    Principal principal() {
        return caller.principal().orElseThrow();
    }

    @Override
    public String toString() {
        return "SocketAccess[" + principal().name() + "]";
    }
}
