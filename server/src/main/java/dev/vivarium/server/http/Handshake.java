package dev.vivarium.server.http;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Scope;
import java.net.InetAddress;
import java.util.Optional;

/// Admission of the client of a WebSocket, which sends its credential in its first message. Immutable.
///
/// @param route           the route of the upgrade request; its access is [Route.Access.FirstMessage]
/// @param sandboxId       the sandbox of the route; empty if the route has none
/// @param address         the address of the client, unless it is inside a sandbox
/// @param session         browser session of the upgrade request, for a client that sends no credential
/// @param onAuthenticated to run when the client has sent a valid credential
public record Handshake(
        Route route,
        String sandboxId,
        Optional<InetAddress> address,
        Optional<Credential> session,
        Runnable onAuthenticated) {
    private Route.Access.FirstMessage access() {
        return (Route.Access.FirstMessage) route.access();
    }

    /// Returns the name of the route in the audit.
    public String name() {
        return route.method() + " " + route.template();
    }

    /// Returns the scope that every client needs.
    public Scope scope() {
        return access().scope();
    }

    /// Authenticates the credential and authorizes `wanted`. Throws the failure for the client otherwise.
    public Caller admit(Admission admission, Credential credential, Scope wanted) {
        return switch (access().target()) {
            case SANDBOX -> admission.admit(sandboxId, credential, wanted);
            case KEPT_SANDBOX -> admission.admitKept(sandboxId, credential, wanted);
            case VISIBLE_SANDBOXES -> admitToAll(admission, credential, wanted);
        };
    }

    private static Caller admitToAll(Admission admission, Credential credential, Scope wanted) {
        Principal who = admission.identify(credential);
        return who instanceof Principal.Holder(var grant)
                ? admission.admit(grant.sandbox().value(), credential, wanted)
                : Caller.of(who);
    }
}
