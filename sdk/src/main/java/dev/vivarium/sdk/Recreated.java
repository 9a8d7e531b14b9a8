package dev.vivarium.sdk;

import dev.vivarium.model.Failure;
import dev.vivarium.sdk.engine.Session;

/// A sandbox that had expired and was replaced by a new one. The files of the lost one are gone. Immutable.
///
/// @param why how the lost one ended, as far as the server still knows
public record Recreated(Session lost, Session now, Failure.NoSuchSandbox why) {}
