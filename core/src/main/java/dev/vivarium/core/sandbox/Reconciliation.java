package dev.vivarium.core.sandbox;

import java.time.Instant;
import java.util.Optional;

/// What the search for leftovers has found since the start. Immutable.
///
/// @param passes  how often everything was looked at
/// @param orphans traces of machines without an owner that were removed
/// @param rows    rows of the store that no sandbox stood behind
public record Reconciliation(long passes, long orphans, long rows, Optional<Instant> lastPass) {}
