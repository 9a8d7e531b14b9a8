package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import java.util.List;
import java.util.Optional;

/// Permissions of callers on sandboxes. Thread-safe.
///
/// The policy of the server limits every caller, including the admin. Otherwise a shell would bypass a rule about
/// commands.
public final class Rights {
    private final Members members;
    private final Scopes policy;

    public Rights(Members members, Scopes policy) {
        this.members = members;
        this.policy = policy;
    }

    /// Returns the maximum scopes of any caller on any sandbox.
    public Scopes maxScopes() {
        return policy;
    }

    /// Returns the owners of the threads of this name that the user was invited to, ordered by name.
    public List<UserId> owners(UserId user, ThreadId thread) {
        return members.owners(user, thread);
    }

    /// A sandbox with the data that its permissions depend on.
    public record Target(SandboxId sandbox, ThreadKey key) {}

    /// Returns the scopes of `caller`. Empty if the caller must not learn that the sandbox exists.
    public Optional<Scopes> of(Principal caller, Target target) {
        return switch (caller) {
            case Principal.Admin _ -> Optional.of(policy);
            case Principal.User(var user) -> ofUser(user, target.key());
            case Principal.Holder(var grant) ->
                grant.sandbox().equals(target.sandbox()) ? ofHolder(grant, target.key()) : Optional.empty();
            // A worker has routes of its own.
            case Principal.Worker _ -> Optional.empty();
        };
    }

    /// Returns the scopes of a user in a thread. Empty if the user must not learn that the thread exists.
    public Optional<Scopes> ofUser(UserId user, ThreadKey key) {
        return user.equals(key.user())
                ? Optional.of(policy)
                : members.find(key, user).map(member -> member.maxScopes().narrow(policy));
    }

    /// A token never exceeds the current rights of its subject.
    private Optional<Scopes> ofHolder(Grant grant, ThreadKey key) {
        return switch (grant.standing()) {
            case OWNER, ADMIN -> Optional.of(grant.scopes().narrow(policy));
            case MEMBER ->
                members.find(key, grant.subject())
                        .map(member -> grant.scopes().narrow(member.maxScopes()).narrow(policy));
        };
    }
}
