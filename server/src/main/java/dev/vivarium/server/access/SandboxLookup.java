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
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.util.Optional;

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

    /// Returns the sandbox of the thread if the caller owns it or is the admin.
    public Sandbox own(Principal caller, ThreadId thread) {
        return sandboxes
                .find(thread)
                .filter(found -> caller.mayActFor(found.info().user()))
                .orElseThrow(() -> new SandboxException(new Failure.NoSandboxForThread(thread)));
    }

    /// Returns the scopes of the caller for a sandbox that has ended; empty if it has not ended or was not the
    /// caller's.
    public Optional<Scopes> ended(Principal caller, String id) {
        return Optional.of(id)
                .filter(SandboxId::isWellFormed)
                .flatMap(text -> sandboxes.endedOwner(new SandboxId(text)))
                .filter(caller::mayActFor)
                .map(_ -> rights.most());
    }

    /// Returns the scopes of the caller; empty if the caller must not learn that the sandbox exists.
    public Optional<Scopes> scopes(Principal caller, Sandbox sandbox) {
        var info = sandbox.info();
        return rights.of(caller, new Rights.Target(info.id(), info.thread(), info.user()));
    }

    /// Returns the right of the caller in the thread; empty if the thread has no owner or the caller has no right.
    public Optional<ThreadAccess> find(Principal caller, ThreadId thread) {
        return sandboxes.ownerOf(thread).flatMap(owner -> switch (caller) {
            case Principal.Admin _ ->
                Optional.of(new ThreadAccess(thread, owner, caller.name(), Grant.Standing.ADMIN, rights.most()));
            case Principal.User(var user) -> ofUser(user, thread, owner);
            case Principal.Holder(var grant) -> ofHolder(grant, thread, owner);
            case Principal.Worker _ -> Optional.empty();
        });
    }

    public ThreadAccess require(Principal caller, ThreadId thread) {
        return find(caller, thread).orElseThrow(() -> new SandboxException(new Failure.NoSandboxForThread(thread)));
    }

    public ThreadAccess require(Principal caller, ThreadId thread, Scope scope) {
        var access = require(caller, thread);
        requireScope(access.scopes(), scope);
        return access;
    }

    /// Returns the right of a caller who may also start the thread.
    public ThreadAccess start(Principal caller, ThreadId thread) {
        if (sandboxes.ownerOf(thread).isPresent()) {
            return require(caller, thread);
        }
        var standing = caller instanceof Principal.Admin ? Grant.Standing.ADMIN : Grant.Standing.OWNER;
        return new ThreadAccess(thread, caller.name(), caller.name(), standing, rights.most());
    }

    public static void requireScope(Scopes scopes, Scope wanted) {
        if (!scopes.allows(wanted)) {
            throw new SandboxException(new Failure.NotAllowed("this needs the scope " + wanted.text()));
        }
    }

    private Optional<ThreadAccess> ofUser(UserId user, ThreadId thread, UserId owner) {
        var standing = user.equals(owner) ? Grant.Standing.OWNER : Grant.Standing.MEMBER;
        return rights.ofUser(user, thread, owner)
                .map(scopes -> new ThreadAccess(thread, owner, user, standing, scopes));
    }

    private Optional<ThreadAccess> ofHolder(Grant grant, ThreadId thread, UserId owner) {
        if (!grant.thread().equals(thread)) {
            return Optional.empty();
        }
        return rights.of(new Principal.Holder(grant), new Rights.Target(grant.sandbox(), thread, owner))
                .map(scopes -> new ThreadAccess(thread, owner, grant.subject(), grant.standing(), scopes));
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
