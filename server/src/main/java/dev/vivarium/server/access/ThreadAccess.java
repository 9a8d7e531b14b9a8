package dev.vivarium.server.access;

import dev.vivarium.core.access.Grant;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;

/// Right of a caller in a thread: its standing there and its scopes for the sandbox of the thread. Immutable.
///
/// @param subject user of the caller
public record ThreadAccess(ThreadKey key, UserId subject, Grant.Standing standing, Scopes scopes) {}
