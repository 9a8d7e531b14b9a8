package dev.vivarium.server.access;

import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.util.Optional;

/// Thread as a request names it. Immutable.
///
/// @param owner empty if the request does not name the owner
public record ThreadName(ThreadId thread, Optional<UserId> owner) {}
