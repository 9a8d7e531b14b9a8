package dev.vivarium.core.access;

import dev.vivarium.model.UserId;
import java.util.Optional;

/// Who calls. Immutable.
public sealed interface Principal {
    /// Whoever runs the server: may act for any user.
    record Admin() implements Principal {
        /// Whose the admin's own threads are, when a request names no user.
        public static final UserId NAME = new UserId("admin");
    }

    /// One user, who sees nothing but their own threads and those they were invited to.
    record User(UserId id) implements Principal {}

    /// Whoever holds a capability token: may do to one sandbox what the token says, and nothing else.
    record Holder(Grant grant) implements Principal {}

    /// The process inside a sandbox: may report on its own task, and nothing else.
    record Worker(WorkerGrant grant) implements Principal {}

    /// Reports whether this caller may see and use all that belongs to `owner`.
    default boolean mayActFor(UserId owner) {
        return switch (this) {
            case Admin _ -> true;
            case User caller -> caller.id().equals(owner);
            case Holder _, Worker _ -> false;
        };
    }

    /// The one user this caller is, if it is one.
    default Optional<UserId> user() {
        return switch (this) {
            case Admin _ -> Optional.empty();
            case User caller -> Optional.of(caller.id());
            case Holder holder -> Optional.of(holder.grant().subject());
            case Worker worker -> Optional.of(worker.grant().work().owner());
        };
    }

    /// What the token of this caller gives, if it has one.
    default Optional<Grant> findGrant() {
        return this instanceof Holder(Grant grant) ? Optional.of(grant) : Optional.empty();
    }

    /// Who it is in the audit.
    default UserId name() {
        return user().orElse(Admin.NAME);
    }
}
