package dev.vivarium.server.api;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.SandboxLookup;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.CreateSandbox;
import java.util.Optional;

/// Authorization of requests for the thread in their path. Thread-safe.
public final class ThreadCallers {
    private final Sandboxes sandboxes;
    private final SandboxLookup lookup;

    public ThreadCallers(Sandboxes sandboxes, SandboxLookup lookup) {
        this.sandboxes = sandboxes;
        this.lookup = lookup;
    }

    /// Fails with [Failure.NoSandboxForThread] if the caller has no right in the thread.
    public ThreadAccess require(Exchange exchange) {
        return lookup.require(exchange.principal(), new ThreadId(exchange.path("thread_id")));
    }

    /// Accepts the owner and the admin, with a key.
    public ThreadAccess requireOwner(Exchange exchange) {
        var access = require(exchange);
        if (access.standing() == Grant.Standing.MEMBER || exchange.principal() instanceof Principal.Holder) {
            throw new SandboxException(new Failure.NotAllowed("only the owner of the thread may do this"));
        }
        return access;
    }

    /// Accepts a caller who may also start the thread. An admin may do so for `user`.
    ThreadAccess enter(Principal caller, ThreadId thread, Optional<UserId> user) {
        user.ifPresent(owner -> CreateSandbox.requireMayActFor(caller, owner));
        return lookup.start(user.<Principal>map(Principal.User::new).orElse(caller), thread);
    }

    /// Returns the sandbox of the thread. Fails with [Failure.NoSandboxForThread] if it has none.
    Sandbox sandbox(ThreadAccess access) {
        return sandboxes.require(access.thread());
    }
}
