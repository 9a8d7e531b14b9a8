package dev.vivarium.server.api;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Rights;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import java.util.Optional;

/// Finds threads for those who may use them: the owner, who was invited, the admin, and holders of tokens for their
/// sandbox. For everybody else a thread is not there. Thread-safe.
public final class ThreadCallers {
    private final Sandboxes sandboxes;
    private final Rights rights;

    public ThreadCallers(Sandboxes sandboxes, Rights rights) {
        this.sandboxes = sandboxes;
        this.rights = rights;
    }

    /// Somebody in a thread, by what right, and what they may do to its sandbox. Immutable.
    public record Visit(ThreadId thread, UserId owner, UserId subject, Grant.Standing standing, Scopes scopes) {}

    /// The visit of this caller to the thread of the path; throws [Failure.NoSandboxForThread] when it is not
    /// theirs.
    public Visit require(Exchange exchange) {
        var thread = new ThreadId(exchange.path("thread_id"));
        return find(exchange.principal(), thread).orElseThrow(() -> unknown(thread));
    }

    /// The same for the owner and the admin, with a key: what is theirs alone to decide.
    public Visit requireOwner(Exchange exchange) {
        var visit = require(exchange);
        if (visit.standing() == Grant.Standing.MEMBER || exchange.principal() instanceof Principal.Holder) {
            throw new SandboxException(new Failure.NotAllowed("only the owner of the thread may do this"));
        }
        return visit;
    }

    /// The visit of one who may also begin the thread; an admin may do so for `user`.
    Visit enter(Principal caller, ThreadId thread, Optional<UserId> user) {
        if (user.isPresent() && !caller.mayActFor(user.get())) {
            throw new SandboxException(new Failure.NotAllowed("a user's key acts for its own user_id only"));
        }
        Principal actor = user.<Principal>map(Principal.User::new).orElse(caller);
        if (sandboxes.ownerOf(thread).isPresent()) {
            return find(actor, thread).orElseThrow(() -> unknown(thread));
        }
        var standing = actor instanceof Principal.Admin ? Grant.Standing.ADMIN : Grant.Standing.OWNER;
        return new Visit(thread, actor.name(), actor.name(), standing, rights.most());
    }

    /// The sandbox that a thread has now; throws [Failure.NoSandboxForThread] when it has none.
    Sandbox sandbox(Visit visit) {
        return sandboxes.require(visit.thread());
    }

    private Optional<Visit> find(Principal caller, ThreadId thread) {
        return sandboxes.ownerOf(thread).flatMap(owner -> switch (caller) {
            case Principal.Admin _ ->
                Optional.of(new Visit(thread, owner, caller.name(), Grant.Standing.ADMIN, rights.most()));
            case Principal.User(var user) -> ofUser(user, thread, owner);
            case Principal.Holder(var grant) -> ofHolder(grant, thread, owner);
            case Principal.Worker _ -> Optional.empty();
        });
    }

    private Optional<Visit> ofUser(UserId user, ThreadId thread, UserId owner) {
        var standing = user.equals(owner) ? Grant.Standing.OWNER : Grant.Standing.MEMBER;
        return rights.ofUser(user, thread, owner).map(scopes -> new Visit(thread, owner, user, standing, scopes));
    }

    private Optional<Visit> ofHolder(Grant grant, ThreadId thread, UserId owner) {
        if (!grant.thread().equals(thread)) {
            return Optional.empty();
        }
        return rights.of(new Principal.Holder(grant), new Rights.Target(grant.sandbox(), thread, owner))
                .map(scopes -> new Visit(thread, owner, grant.subject(), grant.standing(), scopes));
    }

    private static SandboxException unknown(ThreadId thread) {
        return new SandboxException(new Failure.NoSandboxForThread(thread));
    }
}
