package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.util.Optional;

/// Authenticated caller. Immutable.
public sealed interface Principal {
    /// The operator of the server. May act for any user.
    record Admin() implements Principal {
        /// Owner of a thread that the admin creates without naming a user.
        public static final UserId NAME = new UserId("admin");
    }

    /// A user. Sees only their own threads and those they were invited to.
    record User(UserId id) implements Principal {}

    /// The holder of a capability token. May use one sandbox within the scopes of the token.
    record Holder(Grant grant) implements Principal {}

    /// The worker process inside a sandbox. May only report on its own task.
    record Worker(WorkerGrant grant) implements Principal {}

    /// Reports whether this caller may see and use everything that belongs to `owner`.
    default boolean mayActFor(UserId owner) {
        return switch (this) {
            case Admin _ -> true;
            case User caller -> caller.id().equals(owner);
            case Holder _, Worker _ -> false;
        };
    }

    /// Returns the user of this caller. Empty for the admin.
    default Optional<UserId> user() {
        return switch (this) {
            case Admin _ -> Optional.empty();
            case User caller -> Optional.of(caller.id());
            case Holder holder -> Optional.of(holder.grant().subject());
            case Worker worker -> Optional.of(worker.grant().work().owner());
        };
    }

    default Optional<Grant> findGrant() {
        return this instanceof Holder(Grant grant) ? Optional.of(grant) : Optional.empty();
    }

    /// Returns the user name for the audit log.
    default UserId name() {
        return user().orElse(Admin.NAME);
    }
}
