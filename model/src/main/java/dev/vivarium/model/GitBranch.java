package dev.vivarium.model;

/// Branch on a forge. Immutable.
///
/// @param commit id of its newest commit
public record GitBranch(String name, String commit, boolean isProtected) {}
