package dev.vivarium.model;

import java.time.Instant;
import java.util.Optional;

/// Commit on a forge. Immutable.
public record GitCommit(String id, String message, String author, String email, Optional<Instant> at) {}
