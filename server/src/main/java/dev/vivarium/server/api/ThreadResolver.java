package dev.vivarium.server.api;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.SandboxLookup;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.access.ThreadName;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.operation.CreateSandbox;
import java.util.Optional;

/// Authorization of requests for the thread in their path. Thread-safe.
public final class ThreadResolver {
    private final SandboxLookup lookup;

    public ThreadResolver(SandboxLookup lookup) {
        this.lookup = lookup;
    }

    /// Fails with [Failure.NoSandboxForThread] if the caller has no right in the thread.
    public ThreadAccess require(Exchange exchange) {
        var name = name(exchange);
        exchange.concerns(new ThreadKey(name.owner().orElse(exchange.principal().name()), name.thread()));
        var access = lookup.require(exchange.principal(), name);
        exchange.concerns(access.key());
        return access;
    }

    /// Returns the thread that the path and the query name.
    static ThreadName name(Exchange exchange) {
        return new ThreadName(
                new ThreadId(exchange.path("thread_id")), exchange.threadOwner().map(UserId::new));
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
    ThreadAccess enter(Exchange exchange, Optional<UserId> user) {
        Principal caller = exchange.principal();
        user.ifPresent(subject -> CreateSandbox.requireMayActFor(caller, subject));
        var access = lookup.start(user.<Principal>map(Principal.User::new).orElse(caller), name(exchange));
        exchange.concerns(access.key());
        return access;
    }

    /// Returns the sandbox of the thread. Fails with [Failure.NoSandboxForThread] and the end of the last one.
    Sandbox sandbox(ThreadAccess access) {
        return lookup.sandbox(access);
    }
}
