package dev.vivarium.core.log;

import dev.vivarium.model.Event;

/// An event that is in the log. Immutable.
///
/// @param isNew whether this call put it there; if not, an earlier one with the same id did
public record AppendResult(Event event, boolean isNew) {}
