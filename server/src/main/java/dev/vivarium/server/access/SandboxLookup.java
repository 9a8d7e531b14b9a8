package dev.vivarium.server.access;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scope;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/// Lookup of sandboxes and threads on behalf of callers. Thread-safe.
///
/// A missing sandbox and a sandbox that the caller may not see fail in the same way, so that callers cannot distinguish
/// the two. The same holds for threads.
public final class SandboxLookup {
    private static final int SHOWN_ID = 64;

    private final Sandboxes sandboxes;
    private final Rights rights;

    public SandboxLookup(Sandboxes sandboxes, Rights rights) {
        this.sandboxes = sandboxes;
        this.rights = rights;
    }

    /// Returns the sandbox; the caller of this method checks [#scopes]. Only its owner learns how a sandbox ended.
    public Sandbox known(Principal caller, String id) {
        var sandbox = parse(id);
        return sandboxes.find(sandbox).orElseGet(() -> sandboxes.require(sandbox, caller::mayActFor));
    }

    /// Returns the sandbox if the caller owns it or is the admin.
    public Sandbox own(Principal caller, String id) {
        return sandboxes.require(parse(id), caller::mayActFor);
    }

    /// Returns the sandbox if the caller owns it, is the admin, or is a member with the scope `needed`.
    public Sandbox permitted(Principal caller, String id, Scope needed) {
        Sandbox sandbox = known(caller, id);
        if (!caller.mayActFor(sandbox.info().user())) {
            requireScope(scopes(caller, sandbox).orElseThrow(() -> unknown(id)), needed);
        }
        return sandbox;
    }

    /// Returns the sandbox of a thread in which the caller has a right.
    public Sandbox sandbox(Principal caller, ThreadName name) {
        return sandbox(require(caller, name));
    }

    /// Returns the sandbox of the thread. Fails with [Failure.NoSandboxForThread] and the end of the last one.
    public Sandbox sandbox(ThreadAccess access) {
        var key = access.key();
        return sandboxes
                .find(key)
                .orElseThrow(() ->
                        new SandboxException(new Failure.NoSandboxForThread(key.thread(), sandboxes.lastEnd(key))));
    }

    /// Returns the scopes of the caller for a sandbox that has ended; empty if it has not ended or was not the
    /// caller's.
    public Optional<Scopes> ended(Principal caller, String id) {
        return Optional.of(id)
                .filter(SandboxId::isWellFormed)
                .flatMap(text -> sandboxes.endedOwner(new SandboxId(text)))
                .filter(caller::mayActFor)
                .map(_ -> rights.maxScopes());
    }

    /// Returns the scopes of the caller; empty if the caller must not learn that the sandbox exists.
    public Optional<Scopes> scopes(Principal caller, Sandbox sandbox) {
        var info = sandbox.info();
        return rights.of(caller, new Rights.Target(info.id(), info.key()));
    }

    /// Returns the right of the caller in the thread; empty if the thread does not exist or the caller has no
    /// right.
    ///
    /// Without an owner, the name means the caller's own thread, otherwise the only thread of that name that others
    /// share with the caller. An admin shares all threads. Fails with `AmbiguousThread` if there are several. The
    /// threads that the caller may not see have no effect on the result or on the queries.
    public Optional<ThreadAccess> find(Principal caller, ThreadName name) {
        Optional<ThreadAccess> access = switch (caller) {
            case Principal.Admin _ ->
                Optional.of(asAdmin(resolve(name, caller.name(), () -> sandboxes.ownersOf(name.thread()))));
            case Principal.User(var user) ->
                ofUser(user, resolve(name, user, () -> rights.owners(user, name.thread())));
            case Principal.Holder(var grant) -> ofHolder(grant, name);
            case Principal.Worker _ -> Optional.empty();
        };
        return access.filter(found -> sandboxes.hasThread(found.key()));
    }

    private ThreadKey resolve(ThreadName name, UserId caller, Supplier<List<UserId>> shared) {
        if (name.owner().isPresent()) {
            return new ThreadKey(name.owner().get(), name.thread());
        }
        var own = new ThreadKey(caller, name.thread());
        List<UserId> owners = shared.get();
        if (owners.isEmpty() || sandboxes.hasThread(own)) {
            return own;
        }
        if (owners.size() > 1) {
            throw new SandboxException(new SandboxFailure.AmbiguousThread(name.thread(), owners));
        }
        return new ThreadKey(owners.getFirst(), name.thread());
    }

    public ThreadAccess require(Principal caller, ThreadName name) {
        return find(caller, name).orElseThrow(() -> missing(name));
    }

    public ThreadAccess require(Principal caller, ThreadName name, Scope scope) {
        var access = require(caller, name);
        requireScope(access.scopes(), scope);
        return access;
    }

    /// Returns the right of a caller who may also start the thread.
    public ThreadAccess start(Principal caller, ThreadName name) {
        return find(caller, name).orElseGet(() -> {
            var key = new ThreadKey(name.owner().orElse(caller.name()), name.thread());
            if (!caller.mayActFor(key.user())) {
                throw missing(name);
            }
            return caller instanceof Principal.Admin
                    ? asAdmin(key)
                    : new ThreadAccess(key, caller.name(), Grant.Standing.OWNER, rights.maxScopes());
        });
    }

    private static SandboxException missing(ThreadName name) {
        return new SandboxException(new Failure.NoSandboxForThread(name.thread()));
    }

    private ThreadAccess asAdmin(ThreadKey key) {
        return new ThreadAccess(key, Principal.Admin.NAME, Grant.Standing.ADMIN, rights.maxScopes());
    }

    public static void requireScope(Scopes scopes, Scope wanted) {
        if (!scopes.allows(wanted)) {
            throw new SandboxException(new Failure.NotAllowed("this needs the scope " + wanted.text()));
        }
    }

    private Optional<ThreadAccess> ofUser(UserId user, ThreadKey key) {
        var standing = user.equals(key.user()) ? Grant.Standing.OWNER : Grant.Standing.MEMBER;
        return rights.ofUser(user, key).map(scopes -> new ThreadAccess(key, user, standing, scopes));
    }

    private Optional<ThreadAccess> ofHolder(Grant grant, ThreadName name) {
        boolean isOfThread = grant.thread().equals(name.thread())
                && name.owner()
                        .filter(owner -> !owner.equals(grant.key().user()))
                        .isEmpty();
        return isOfThread
                ? rights.of(new Principal.Holder(grant), new Rights.Target(grant.sandbox(), grant.key()))
                        .map(scopes -> new ThreadAccess(grant.key(), grant.subject(), grant.standing(), scopes))
                : Optional.empty();
    }

    private static SandboxId parse(String id) {
        if (!SandboxId.isWellFormed(id)) {
            throw unknown(id);
        }
        return new SandboxId(id);
    }

    /// Returns the failure for a sandbox that does not exist. It truncates a long id.
    public static SandboxException unknown(String id) {
        String shown = id.length() <= SHOWN_ID ? id : id.substring(0, SHOWN_ID) + "…";
        return new SandboxException(new Failure.NoSuchSandbox(shown, Optional.empty()));
    }
}
