package dev.vivarium.sdk;

import dev.vivarium.model.Failure;
import dev.vivarium.sdk.engine.Session;

/// Replacement of an expired sandbox by a new one without its files. Immutable.
///
/// @param why end of the expired sandbox, as far as the server knows it
public record Recreated(Session lost, Session now, Failure.NoSuchSandbox why) {}
