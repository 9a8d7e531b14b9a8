package dev.vivarium.model;

import java.util.List;

/// Difference between two branches on a forge. Immutable.
///
/// @param ahead   number of commits of `head` that `base` does not have
/// @param commits the newest of these commits
/// @param files   changed files, where the forge lists them
public record GitComparison(String base, String head, long ahead, List<GitCommit> commits, List<String> files) {}
