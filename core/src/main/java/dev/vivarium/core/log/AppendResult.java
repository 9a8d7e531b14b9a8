package dev.vivarium.core.log;

import dev.vivarium.model.Event;

/// An event in the log. Immutable.
///
/// @param isNew whether this call appended it; otherwise an earlier call with the same id did
public record AppendResult(Event event, boolean isNew) {}
