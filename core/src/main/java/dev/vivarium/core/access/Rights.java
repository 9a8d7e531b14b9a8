package dev.vivarium.core.access;

import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.util.Optional;

/// What each caller may do to each sandbox. Thread-safe.
///
/// The server's policy is the most that anybody may, the admin included: a rule about commands would be none if there
/// were a shell beside it.
public final class Rights {
    private final Members members;
    private final Scopes policy;

    public Rights(Members members, Scopes policy) {
        this.members = members;
        this.policy = policy;
    }

    /// The most that anybody may do to any sandbox.
    public Scopes most() {
        return policy;
    }

    /// A sandbox, as far as rights go.
    public record Target(SandboxId sandbox, ThreadId thread, UserId owner) {}

    /// What `caller` may do to it; empty for whom it does not exist.
    public Optional<Scopes> of(Principal caller, Target target) {
        return switch (caller) {
            case Principal.Admin _ -> Optional.of(policy);
            case Principal.User(var user) -> ofUser(user, target.thread(), target.owner());
            case Principal.Holder(var grant) ->
                grant.sandbox().equals(target.sandbox()) ? ofHolder(grant) : Optional.empty();
            // It has routes of its own.
            case Principal.Worker _ -> Optional.empty();
        };
    }

    /// What a user may do in a thread of `owner`; empty for whom it does not exist.
    public Optional<Scopes> ofUser(UserId user, ThreadId thread, UserId owner) {
        return user.equals(owner)
                ? Optional.of(policy)
                : members.find(thread, user).map(member -> member.most().narrow(policy));
    }

    /// A token is worth no more than what its subject may do now.
    private Optional<Scopes> ofHolder(Grant grant) {
        return switch (grant.standing()) {
            case OWNER, ADMIN -> Optional.of(grant.scopes().narrow(policy));
            case MEMBER ->
                members.find(grant.thread(), grant.subject())
                        .map(member -> grant.scopes().narrow(member.most()).narrow(policy));
        };
    }
}
